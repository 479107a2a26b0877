"""Check all that a log has of one account, without trusting the service: that it is the log which a cosigned checkpoint commits to, so that no
event was changed, added, left out or moved, and that the account's answers, receipts, jobs, slots and invoices follow from each other.

  reckon node export --data DIR/eventstore > log.ndjson            the operator's, of the whole folder (node.md, Exports)
  python verify_account.py log.ndjson ACCOUNT CHECKPOINT --keys service-keys.json --log transparency-log.json [--witness KEY]...

Needs verify.py beside it. Texts in blobs are not looked at. Exit status 0: it holds; 1: it does not, or this is another log; 2: it could not be tried.
"""
import argparse, base64, calendar, collections, json, struct, sys, time, uuid
from verify import Log, Refused, check, note_of, read_file, read_keys, sha, verify_receipt


STORED = ("stream", "type", "data", "metadata")


def members(line):
    """The members of a line of an export, each there once. Those of STORED are their bytes, of which alone they are read: they are what is hashed."""
    decoder, found, at = json.JSONDecoder(), {}, 1
    while line[at - 1] in "{,":
        name, colon = decoder.raw_decode(line, at)
        value, end = decoder.raw_decode(line, colon + 1)
        plain = name.removesuffix("_base64")
        if plain in STORED:
            value = base64.b64decode(value) if name != plain else value.encode() if plain in ("stream", "type") else line[colon + 1:end].encode()
            name = plain
        check(name not in found, f"position {found.get('position')}: its line in the export has {name!a} twice")
        found[name], at = value, end + 1
    return found


def object_of(stored, is_json):
    """The JSON object that stored bytes are; an empty one if there are none, or another value."""
    try:
        value = json.loads(stored.decode() or "{}")
    except ValueError:
        if is_json:
            raise
        return {}
    return value if isinstance(value, dict) else {}


def events(path):
    """The events of an export, each with the log's hash chain there, which every byte of the events up to it makes (log-format.md)."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        head = json.loads(next(lines))
        check(head.get("format") == "reckon-export" and "log_id" in head and head["after"] == 0 and not {"stream", "category", "gaps"} & set(head), "it is not the export of a whole folder")
        link = sha(b"reckon event log 1\n" + uuid.UUID(head["log_id"]).bytes)
        for e in map(members, lines):
            if "end" in e:
                return
            stream, kind, data, meta = (e.get(name, b"") for name in STORED)
            if "removed" in e:
                check(not {"data", "metadata", "salt"} & set(e), f"position {e['position']}: its payload is said to be removed, and is there")
                check(stream.startswith((b"runner-", b"$")), f"position {e['position']}: its payload was removed, so that the export does not hold all of the log")
                payload, lengths = bytes.fromhex(e["payload_sha256"]), (e["metadata_bytes"], e["data_bytes"])
            else:
                salt = bytes.fromhex(e["salt"])
                check(len(salt) == 16, f"position {e['position']}: its salt has not 16 bytes")
                payload, lengths = sha(salt + meta + data), (len(meta), len(data))
            ticks, is_json = calendar.timegm(time.strptime(e["created"][:19], "%Y-%m-%dT%H:%M:%S")) * 10**7 + int(e["created"][20:27]), e["content_type"] == "application/json"
            link = sha(link + struct.pack(">BQQq16sBHIII", 2, e["position"], e["revision"], ticks, uuid.UUID(e["id"]).bytes, is_json | e["last"] << 1, len(stream), len(kind), *lengths) + payload + stream + kind)
            yield (head["log_id"], e["position"], link.hex()), e | {"stream": stream, "type": kind.decode(errors="backslashreplace"), "data": object_of(data, is_json), "metadata": object_of(meta, is_json)}


class Account:
    """What an account has. A method for each type of event that something must follow from."""

    def __init__(self, keys):
        self.keys, self.counts = keys, collections.Counter()
        self.spent, self.refunded, self.jobs, self.ended, self.published, self.answers, self.invoices = {}, set(), {}, set(), {}, {}, {}

    def take(self, kind, data):
        self.counts[kind] += 1
        getattr(self, kind.replace(".", "_"), lambda data: None)(data)

    def slots_spent(self, e):
        check(e["slot_id"] not in self.spent, "a slot is spent twice")
        self.spent[e["slot_id"]] = {**e["submission"], "slot_id": e["slot_id"], "day": e["day"]}

    def slots_refunded(self, e):
        check(e["slot_id"] in self.spent and e["slot_id"] not in self.refunded, "a slot is given back that was not spent")
        self.refunded.add(e["slot_id"])

    def job_queued(self, e):
        check(e["job_id"] not in self.jobs and self.spent.get(e["slot_id"]) == e, "the job is not the one that its slot was spent for")
        self.jobs[e["job_id"]] = e

    def job_cancelled(self, e):
        check(e["job_id"] in self.jobs and e["job_id"] not in self.ended, "a job ends that is not there, or has ended")
        self.ended.add(e["job_id"])
        self.published |= {each["data"]["run_id"]: each["data"] for each in e.get("publish", []) if each["name"] == "run.evaluated"}

    job_succeeded = job_failed = job_timed_out = job_lost = job_cancelled

    def run_evaluated(self, e):
        check("job_id" not in e or self.published.pop(e["run_id"], None) == e, "the run is not the one that its job has published")
        self.answers[e["run_id"]] = e

    def receipt_sealed(self, e):
        run, form = self.answers.pop(e["run_id"], {}), e["canonical"].get("inline")
        if form is None or "signature" not in e:
            self.counts["receipts that were not verified"] += 1
            return
        record = json.loads(form)
        verify_receipt({"record": record, "canonical_form": form, "id": e["receipt_id"], "signature": e["signature"], "kid": e["kid"]}, self.keys)
        check(all(run.get(name) in (record[name], {"inline": record[name]}) or "blob" in run[name] for name in ("run_id", "account", "expression", "answer", "status", "engine", "evaluated_at")),
              "the receipt is not of the run before it")

    def invoice_issued(self, e):
        self.invoices[e["invoice_id"]] = e["amount_minor"]
        check(sum(line["amount_minor"] for line in e["lines"]) == e["amount_minor"] and int(e["number"].split("-")[1]) == len(self.invoices), "the invoice is not the next, or not the sum of its lines")

    def invoice_paid(self, e):
        check(self.invoices.get(e["invoice_id"]) == e["amount_minor"], "it pays no invoice, or not what the invoice says")


def verify(options):
    """What the account has up to the checkpoint's last leaf: how many events of each type."""
    size, _, chain = Log(read_file(options.log), options.witness).opened(note_of(read_file(options.checkpoint)))
    check(chain, "the checkpoint commits to no event log: take one that a newer release has signed")
    account, streams = Account(read_keys(read_file(options.keys))), set()
    for here, e in events(options.export):
        data = e["data"]
        if options.account in (data.get("account"), data.get("submission", {}).get("account"), e["metadata"].get("account")):
            streams.add(e["stream"])
        if e["stream"] in streams:
            try:
                account.take(e["type"], data)
            except Refused as why:
                raise Refused(f"position {e['position']}: {why}") from None
        if e["position"] == chain[1]:
            check(here == chain, f"an event up to position {chain[1]} is not the one that the checkpoint commits to")
            check(streams, "the log has no such account: give its id, not its address; `reckon tail --once --type account.registered --account ADDRESS` shows it")
            check(not account.answers, "an answer has no receipt")
            return account.counts | {"leaves of the checkpoint": size, "position": chain[1]}
    raise Refused(f"the export ends before position {chain[1]}, which the checkpoint commits to")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    for name in ("export", "account", "checkpoint"):
        parser.add_argument(name)
    for name in ("--keys", "--log"):
        parser.add_argument(name, required=True)
    parser.add_argument("--witness", action="append", default=[])
    try:
        verified = verify(parser.parse_args(arguments))
    except Refused as why:
        print("not verified:", why)
        return 1
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError, struct.error) as damage:
        print("not verified: the export is damaged, or of another format:", ascii(damage))
        return 1
    print("verified: all events of the account", *(f"  {name}: {verified[name]}" for name in sorted(verified)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
