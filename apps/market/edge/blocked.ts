// The operations that a blocked account may ask for. It begins nothing new; its open trades go on
// in every part, and it may always take back or end something. A test holds this list to all
// operations of both descriptions: a new one has to say which it is.

const lists = {
  /** New business: refused at the gate. */
  refused:
    'createRfq quoteRfq quoteMany proposePrice publishLevels listAsset proveEvmWallet' +
    ' proveTronWallet proveBitcoinWallet proveSolanaWallet registerWebhook makeKey' +
    ' makeFeedTicket beginPayout provePayout',
  /**
   * Refused in its own transaction, or in part of its cases: the gate knows no account yet, the
   * same words may only repeat what was agreed before, or a wallet would be free to begin anew.
   */
  itself: 'mintKey acceptPrice giveSignature deleteAccount removeLogin',
  /** Reads. */
  read:
    'getMe getKeyNonce getWalletNonce listAssets listAssetsOpenly getRules getPair getPairOpenly' +
    ' getPairPrice getPairPriceOpenly getMarketStatus listRfqs getRfq listThreads listQuotes' +
    ' getThread getOtherRecord listLevels listLevelsOpenly listSwaps getSwap listWebhooks getWays' +
    ' getAccount listSessions getPayout listKeys listDeliveries',
  /** Swaps that are open: addresses, what is built for them, what is sent and told. */
  settles:
    'setAddress buildFund buildClaim buildRefund scheduleRefunds broadcast pingWebhook sendAgain',
  /** Takes back, or ends. */
  ends:
    'removeWallet cancelRfq withdrawQuote withdrawQuotes withdrawLevels deleteWebhook' +
    ' endOtherSessions endSession signOut stopPayout stopAllPayouts keepLogin' +
    ' keepAccount revokeKey',
  /** Ways in: without one nobody reaches an open swap in the browser. */
  signsIn:
    'askForCode giveCode askForText beginPasskey addPasskey askPasskey givePasskey' +
    ' beginAtProvider returnFromProvider',
};

export type WhenBlocked = keyof typeof lists;

const classes = new Map(
  (Object.keys(lists) as WhenBlocked[]).flatMap((each) =>
    lists[each].split(' ').map((operationId) => [operationId, each] as const),
  ),
);

/** One that nobody thought of is new business; undefined, so that a test can tell. */
export const whenBlocked = (operationId: string): WhenBlocked | undefined =>
  classes.get(operationId);

export function isRefusedToBlocked(operationId: string): boolean {
  return (whenBlocked(operationId) ?? 'refused') === 'refused';
}
