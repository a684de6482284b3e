# Heddle's commands. They need Python 3.11 or newer, and internet access when they first install packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
export PORT

.PHONY: run install providers mcp worker beat test check format bench chaos lock clean

run: $(VENV)/.base  ## serve with the demo at http://127.0.0.1:8000
	@exec $(BIN)/python manage.py serve --demo

install: $(VENV)/.base  ## only install the locked packages, into .venv

# exec: otherwise a shell between make and the process would end when make is stopped, and leave the process running.
worker: $(VENV)/.base  ## a worker process; needs REDIS_URL and DATABASE_URL
	exec $(BIN)/celery -A config.celery worker --pool threads --concurrency $${HEDDLE_TURNS:-8}

beat: $(VENV)/.base  ## the scheduler (exactly one); needs REDIS_URL and DATABASE_URL
	exec $(BIN)/celery -A config.celery beat

# Write bytecode whatever the environment says; otherwise each worker of both runs would compile every test again.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev $(VENV)/.referees  ## all tests; those that need PostgreSQL, Redis, Chromium or npm are skipped if these are missing
	$(BIN)/python -m pytest -n 3 --dist loadgroup --no-loadscope-reorder $(ARGS)
	$(BIN)/python -m tests.on_services $(ARGS)

check: $(VENV)/.dev $(VENV)/.referees  ## format, lint, types, imports, templates, migrations
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports --no-cache
	$(BIN)/djade --check $$(find templates -name "*.html")
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/python manage.py makemigrations --check --dry-run

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## benchmarks, each next to a minimal baseline from the same run
	$(BIN)/python -m bench $(ARGS)

chaos: $(VENV)/.dev  ## fault injection: hundreds of turns while processes are killed at random; ARGS="--seed 7 --turns 500 --way full"
	$(BIN)/python -W ignore -m tests.chaos $(ARGS)

lock: $(VENV)/.dev  ## update the locked dependencies, with hashes and without the registry's URL
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/base.in -o requirements/base.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/providers.in -o requirements/providers.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/mcp.in -o requirements/mcp.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/dev.in -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/referees.in -o requirements/referees.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Heddle needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Creating the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements/base.txt | $(VENV)/bin/python
	@echo "Installing locked dependencies ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@echo "Installing packages for tests and checks ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	@touch $@

$(VENV)/.referees: requirements/referees.txt $(VENV)/.dev
	@echo "Installing reference packages for tool formats ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/referees.txt
	@touch $@

providers: $(VENV)/.base requirements/providers.txt  ## install the packages for OpenAI, Anthropic and compatible models
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/providers.txt

# With the test tools installed, use their lock file: it has an older starlette, which mcp needs, than mcp's own lock.
mcp: $(VENV)/.base requirements/mcp.txt  ## install the packages for MCP servers; `make test` does it too
	@test ! -e $(VENV)/.dev || $(MAKE) --no-print-directory $(VENV)/.referees
	@$(BIN)/python -c "from mcp import Client" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/mcp.txt

clean:
	rm -rf $(VENV) var .mypy_cache .ruff_cache .pytest_cache
