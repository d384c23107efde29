// How a program checks that a delivery is the market's, with nothing that has to be installed.
// docs/webhooks.md has the one for Node too.

export const languages = ['node', 'python'] as const;

export type SnippetLanguage = (typeof languages)[number];

export const snippets: Readonly<Record<SnippetLanguage, (shortName: string) => string>> = {
  node: (shortName) => `import { createHmac, timingSafeEqual } from 'node:crypto';

/** headers: names in lower case. rawBody: a Buffer. Throws if it is not the market's, or old. */
export function verify(secret, headers, rawBody) {
  const timestamp = headers['x-${shortName}-timestamp'] ?? '';
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\\d+$/.test(timestamp) || age > 300) throw new Error('not of the last five minutes');
  const signed = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(rawBody);
  const expected = Buffer.from(\`sha256=\${signed.digest('hex')}\`);
  const given = Buffer.from(headers['x-${shortName}-signature'] ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error('not signed with this secret');
  }
  return JSON.parse(rawBody.toString());
}
`,
  python: (shortName) => `import hashlib, hmac, json, time

def verify(secret: str, headers, raw_body: bytes) -> dict:
    """headers: names in lower case. Raises ValueError if it is not the market's, or old."""
    timestamp = headers.get("x-${shortName}-timestamp", "")
    given = headers.get("x-${shortName}-signature", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        raise ValueError("not of the last five minutes")
    signed = timestamp.encode() + b"." + raw_body
    expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.encode()):
        raise ValueError("not signed with this secret")
    return json.loads(raw_body)
`,
};
