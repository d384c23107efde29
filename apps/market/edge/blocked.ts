// The operations that a blocked account may ask for. It begins nothing new; its open trades go on
// in every part, it reads, and it may always take back or end something.

const goOn: ReadonlySet<string> = new Set([
  // Swaps that are open: addresses, what is built for them, what is sent and told.
  'setAddress',
  'buildFund',
  'buildClaim',
  'announceClaim',
  'buildRefund',
  'openLane',
  'releaseLeg',
  'cosign',
  'scheduleRefunds',
  'scheduleClaims',
  'broadcast',
  'pingWebhook',
  'sendAgain',
  // Takes back, or ends.
  'removeWallet',
  'cancelRfq',
  'withdrawQuote',
  'withdrawQuotes',
  'withdrawLevels',
  'deleteWebhook',
  'endOtherSessions',
  'endSession',
  'signOut',
  'stopPayout',
  'stopAllPayouts',
  'keepLogin',
  'keepAccount',
  'revokeKey',
  // Refused in its own transaction: the same words may only repeat what was agreed before, or a
  // wallet would be free to begin anew.
  'acceptPrice',
  'deleteAccount',
  'removeLogin',
  // Ways in: without one nobody reaches an open swap in the browser.
  'beginPasskey',
  'addPasskey',
]);

/** New business: each change that is not known to go on. */
export function isRefusedToBlocked(method: string, operationId: string): boolean {
  return method !== 'GET' && !goOn.has(operationId);
}
