# The dashboard, and nothing but what running it needs:
#   docker build -t delphi-dashboard . && docker run -p 8501:8501 delphi-dashboard
FROM python:3.11.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PORT=8501

WORKDIR /app
# What changes least comes first, so that a change of code installs nothing again.
COPY requirements.txt ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

COPY .streamlit/ .streamlit/
COPY delphi_core/ delphi_core/
COPY pages/ pages/
COPY app.py ./

# The code stays root's: the server can read it and change nothing.
RUN useradd --system --no-create-home --home-dir /nonexistent delphi
USER delphi

EXPOSE 8501
# Unknown paths are answered with status 200 too, so the body is what counts.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD python -c "import os, sys, urllib.request as r; sys.exit(r.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/_stcore/health', timeout=4).read() != b'ok')"

# exec: the server itself is told to stop, and ends at once.
CMD exec python -m streamlit run app.py --server.address 0.0.0.0 --server.port "$PORT"
