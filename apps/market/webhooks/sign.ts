// The signature of a delivery: specification, part 6.

import { createHmac } from 'node:crypto';

/** `sha256=<hex>` over `<timestamp>.<body>`, keyed with the whole secret as it is written. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
