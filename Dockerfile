# The one image of every process: web, worker, beat, signer. compose.yaml says what each one runs.
FROM node:20-bookworm-slim AS web
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY docs/api/openapi.yaml docs/api/openapi.yaml
COPY web web
RUN npm run web:types && npm run web:build

FROM python:3.11-slim-bookworm AS python
WORKDIR /build
RUN python -m venv /venv
COPY requirements-production.txt .
RUN /venv/bin/python -m pip install --no-cache-dir --require-hashes -r requirements-production.txt

FROM python:3.11-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# It owns nothing and writes nowhere but to /tmp: the file system may be read-only.
RUN useradd --system --uid 10001 --no-create-home bas
COPY --from=python /venv /venv
WORKDIR /app
COPY manage.py ./
COPY bas_site bas_site
COPY contracts contracts
COPY engine engine
COPY matches matches
COPY wallets wallets
COPY docs/api/README.md docs/api/README.md
COPY docs/api/openapi.yaml docs/api/openapi.yaml
COPY --from=web /build/web/dist web/dist
# Settings that only have to be there: nothing of them stays in the image.
RUN BAS_ENV=production SECRET_KEY=build FIELD_KEY=build SITE_URL=https://build.invalid \
    DATABASE_URL=postgres://build VALKEY_URL=redis://build CHAIN_RPC_URLS=http://build \
    python manage.py collectstatic --no-input
USER 10001
EXPOSE 8000
CMD ["uvicorn", "bas_site.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-proxy-headers", "--timeout-graceful-shutdown", "10"]
