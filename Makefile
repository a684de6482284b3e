# The commands of Heddle. `make run` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
export PORT

.PHONY: run providers mcp worker beat test check format bench chaos lock clean

run: $(VENV)/.base  ## serve with the demo at http://127.0.0.1:8000
	@exec $(BIN)/python manage.py serve --demo

# exec: a shell in between would end by itself where make is asked to stop, and leave what it started behind.
worker: $(VENV)/.base  ## a worker process, where REDIS_URL and DATABASE_URL are set
	exec $(BIN)/celery -A config.celery worker --pool threads --concurrency $${HEDDLE_TURNS:-8}

beat: $(VENV)/.base  ## the clock of the sweep: one of it beside the workers
	exec $(BIN)/celery -A config.celery beat

# Bytecode is written whatever the environment says: or each worker of both runs would compile every test anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev $(VENV)/.referees  ## every test; what needs PostgreSQL, Redis or Chromium is skipped where they are missing
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

bench: $(VENV)/.dev  ## figures beside their floors, measured in the same run
	$(BIN)/python -m bench $(ARGS)

chaos: $(VENV)/.dev  ## hundreds of turns while everything is killed at random; ARGS="--seed 7 --turns 500 --way full"
	$(BIN)/python -W ignore -m tests.chaos $(ARGS)

lock: $(VENV)/.dev  ## resolve the dependencies anew, with hashes and without the registry's address
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/base.in -o requirements/base.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/providers.in -o requirements/providers.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/mcp.in -o requirements/mcp.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/dev.in -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/referees.in -o requirements/referees.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Heddle needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Making the environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements/base.txt | $(VENV)/bin/python
	@echo "Installing locked dependencies ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@echo "Installing what tests and checks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	@touch $@

$(VENV)/.referees: requirements/referees.txt $(VENV)/.dev
	@echo "Installing the packages that tool formats are held against ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/referees.txt
	@touch $@

providers: $(VENV)/.base requirements/providers.txt  ## what profiles of OpenAI, Anthropic and compatible servers need
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/providers.txt

# Beside the test tools it comes by their lock: theirs holds starlette, which it needs, at an older version than its own.
mcp: $(VENV)/.base requirements/mcp.txt  ## what connections to MCP servers need; the tests bring it themselves
	@test ! -e $(VENV)/.dev || $(MAKE) --no-print-directory $(VENV)/.referees
	@$(BIN)/python -c "from mcp import Client" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/mcp.txt

clean:
	rm -rf $(VENV) var .mypy_cache .ruff_cache .pytest_cache
