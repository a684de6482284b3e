# One image for every process: web, worker, beat. The command says which.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HEDDLE_DATA_DIR=/data
WORKDIR /heddle

COPY requirements requirements
RUN pip install --no-cache-dir --require-hashes --requirement requirements/base.txt \
 && pip install --no-cache-dir --require-hashes --requirement requirements/providers.txt \
 && pip install --no-cache-dir --require-hashes --requirement requirements/mcp.txt

COPY . .
RUN useradd --system --home /data heddle && install -d -o heddle /data
USER heddle
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
