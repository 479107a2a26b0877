#!/bin/sh
# Makes ./secrets for compose.yaml, once: passwords, and certificates of an authority of its own. Needs openssl.
set -eu
umask 077
cd "$(dirname "$0")"
[ ! -e secrets ] || { echo "secrets/ is there: remove it to make new ones" >&2; exit 1; }
mkdir secrets
cd secrets
mkdir ca

random() { openssl rand -hex 24; }

openssl req -x509 -newkey rsa:2048 -noenc -days 3650 -subj "/CN=reckon's own authority" -keyout ca.key -out ca/ca.crt 2>/dev/null

certificate() { # certificate NAME ADDRESS: for both ends of TLS; nodes of the log know each other by the common name
  mkdir "$1"
  openssl req -newkey rsa:2048 -noenc -subj /CN=eventstoredb-node -keyout "$1/node.key" -out "$1/node.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,IP:%s\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=digitalSignature,keyEncipherment\n' "$1" "$2" > "$1/node.ext"
  openssl x509 -req -in "$1/node.csr" -CA ca/ca.crt -CAkey ca.key -days 825 -extfile "$1/node.ext" -out "$1/node.crt" 2>/dev/null
  rm "$1/node.csr" "$1/node.ext"
}
certificate log-1 172.28.0.11
certificate log-2 172.28.0.12
certificate log-3 172.28.0.13
certificate blobs 172.28.0.16
chmod 755 ca && chmod 644 ca/ca.crt
# The images of the log and of blobs run as users of their own.
chmod 755 log-1 log-2 log-3 blobs && chmod 644 log-?/node.* blobs/node.*

admin=$(random) token=$(random) postgres=$(random) key=$(random)
printf '%s' "$token" > admin.token && chmod 644 admin.token # read by Prometheus' user
printf '%s' "$postgres" > postgres
random > grafana && chmod 644 grafana
printf 'KURRENTDB_DEFAULT_ADMIN_PASSWORD=%s\nKURRENTDB_DEFAULT_OPS_PASSWORD=%s\n' "$admin" "$(random)" > log.env
printf 'ROOT_ACCESS_KEY=reckon\nROOT_SECRET_KEY=%s\n' "$key" > blobs.env
cat > reckon.env <<END
RECKON_EVENTSTORE=esdb://admin:$admin@log-1:2113,log-2:2113,log-3:2113?tlsCAFile=/run/authority/ca.crt
RECKON_DATABASE=postgres://reckon:$postgres@postgres:5432/reckon
RECKON_ADMIN_TOKEN=$token
AWS_ACCESS_KEY_ID=reckon
AWS_SECRET_ACCESS_KEY=$key
END
