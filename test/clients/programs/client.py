"""The clients that Python has: `urllib`, `http.client`, `requests`, `httpx`, the first argument says which.

Reads its orders and prints one line of JSON an outcome, as errands.mjs does. Names below `localhost` are this machine.
"""

import http.client
import json
import socket
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

look_up = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: look_up(
    "127.0.0.1" if str(host).endswith(".localhost") else host, *more, **named
)

with open(sys.argv[-1], encoding="utf-8") as file:
    ORDERS = json.load(file)
TRUST = ssl.create_default_context(cafile=ORDERS["caFile"])


def by_urllib(url, body, headers):
    request = urllib.request.Request(url, body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, context=TRUST) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def by_http_client(url, body, headers):
    where = urllib.parse.urlsplit(url)
    connection = http.client.HTTPSConnection(where.hostname, where.port, context=TRUST)
    connection.request("POST", url[url.index(where.path) :], body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()


def by_requests(url, body, headers):
    import requests

    answer = requests.post(url, data=body, headers=headers, verify=ORDERS["caFile"])
    return answer.status_code, answer.headers, answer.text


def by_httpx(url, body, headers):
    import httpx

    answer = httpx.post(url, content=body, headers=headers, verify=TRUST, follow_redirects=True)
    return answer.status_code, answer.headers, answer.text


def run(errand, post):
    headers = {
        "Authorization": "Bearer " + ORDERS["key"],
        "Content-Type": "application/json",
        "X-Request-ID": errand["id"],
    }
    try:
        status, answered, text = post(ORDERS["origin"] + errand["path"], json.dumps(errand["body"]).encode(), headers)
        return {"status": status, "requestId": answered.get("X-Request-ID"), "text": text}
    except Exception as error:  # Whatever a client raises without an answer is what its user sees.
        return {"text": repr(error)}


POSTS = {"urllib": by_urllib, "http.client": by_http_client, "requests": by_requests, "httpx": by_httpx}
for errand in ORDERS["errands"]:
    print(json.dumps({"id": errand["id"], **run(errand, POSTS[sys.argv[1]])}))
