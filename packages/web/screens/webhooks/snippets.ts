// How a program checks that a delivery is the market's, in two languages.

export function typescriptSnippet(shortName: string): string {
  const named = shortName === 'parley' ? '' : `, shortName: '${shortName}'`;
  return `import { verifyWebhook } from './sdk/webhooks.ts';

// rawBody: the bytes as they came. Throws WebhookError where it is not the market's, or old.
const secret = process.env.WEBHOOK_SECRET; // whsec_…
const delivery = verifyWebhook({ secret, headers: request.headers, body: rawBody${named} });
if (await isNew(delivery.deliveryId)) await handle(delivery); // then answer 2xx
`;
}

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
