// How a program checks that a delivery is the market's, with nothing but Python.

export function pythonSnippet(shortName: string): string {
  return `import hashlib, hmac, json, time

def verify(secret: str, headers, raw_body: bytes) -> dict:
    """headers: names in lower case. Raises ValueError where it is not the market's, or old."""
    timestamp = headers["x-${shortName}-timestamp"]
    given = headers["x-${shortName}-signature"]
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        raise ValueError("not of the last five minutes")
    signed = timestamp.encode() + b"." + raw_body
    expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, given):
        raise ValueError("not signed with this secret")
    return json.loads(raw_body)
`;
}
