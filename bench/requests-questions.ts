// The dearest question known of each route but those of POST. The bench fills in what is in braces,
// and the test beside this file fails where a route has no question.

export const questions: Readonly<Record<string, string>> = {
  getKeyNonce: '/v1/keys/nonce',
  getMe: '/v1/me',
  getWalletNonce: '/v1/wallets/nonce?purpose=link',
  removeWallet: '/v1/wallets/{wallet}',
  listAssets: '/v1/assets?limit=100',
  listAssetsOpenly: '/market/assets?limit=100',
  getRules: '/v1/rules',
  getPair: '/v1/pairs?direction=sell_base&{pair}',
  getPairOpenly: '/market/pairs?direction=sell_base&{pair}',
  getPairPrice: '/v1/pairs/price?{pair}',
  getPairPriceOpenly: '/market/pairs/price?{pair}',
  getPairHistory: '/v1/pairs/history?{pair}&days=29',
  getPairHistoryOpenly: '/market/pairs/history?{pair}&days=29',
  listPairs: '/v1/pairs/list',
  listPairsOpenly: '/market/pairs/list',
  getFiat: '/market/fiat',
  getMarketStatus: '/market/status',
  listRfqs: '/v1/rfqs?limit=100',
  getRfq: '/v1/rfqs/{rfq}',
  listThreads: '/v1/rfqs/{rfq}/threads?limit=100',
  listQuotes: '/v1/threads?limit=100',
  getThread: '/v1/threads/{thread}',
  getOtherRecord: '/v1/threads/{thread}/record',
  listLevels: '/v1/levels?direction=sell_base&{pair}&limit=100',
  listLevelsOpenly: '/market/levels?direction=sell_base&{pair}&limit=100',
  listSwaps: '/v1/swaps?limit=100',
  getSwap: '/v1/swaps/{swap}',
  listWebhooks: '/v1/webhooks?limit=100',
  deleteWebhook: '/v1/webhooks/{webhook}',
};

/** Those that end what they name are asked where there is something to end. */
export const removals: readonly string[] = ['removeWallet', 'deleteWebhook'];

export function filledIn(operationId: string, known: Readonly<Record<string, string>>): string {
  const question = questions[operationId];
  if (question === undefined) throw new Error(`${operationId} has no dearest question`);
  return question.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = known[name];
    if (value === undefined) throw new Error(`${operationId} asks for a ${name} that is not known`);
    return value;
  });
}
