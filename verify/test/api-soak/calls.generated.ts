// The calls of the SDK that docs/openapi.json shows, long texts cut: scripts/openapi.ts writes it.

import type { ParleyClient } from '@parley/sdk/client.ts';

export const calls = {
  getKeyNonce: (market: ParleyClient) =>
    market.mintNonce(),
  mintKey: (market: ParleyClient) =>
    market.mintKey({
      rail: 'evm',
      address: '0x5c1A180723D475',
      message: '{product} asks y',
      signature: '0x182a359d048126',
    }),
  getMe: (market: ParleyClient) =>
    market.me(),
  getWalletNonce: (market: ParleyClient) =>
    market.walletNonce('link'),
  proveEvmWallet: (market: ParleyClient) =>
    market.proveWallet('evm', {
      address: '0x56b6a92e5095ab',
      message: '{product} asks y',
      signature: '0x45b37fa0d43f08',
      authorization: {
        address: 'bcrt1qevt4pyxcpt',
        message: '{product} asks y',
        signature: 'AkgwRQIhANYf+8uH',
      },
    }),
  proveTronWallet: (market: ParleyClient) =>
    market.proveWallet('tron', {
      address: 'TXntA84H6MBxFiMH',
      message: '{product} asks y',
      signature: '0xac3975381db1bd',
      authorization: {
        address: '0x5c1A180723D475',
        message: '{product} asks y',
        signature: '0xa6820583922fcd',
      },
    }),
  proveBitcoinWallet: (market: ParleyClient) =>
    market.proveWallet('bitcoin', {
      address: 'bcrt1qaln4y3hhdg',
      message: '{product} asks y',
      signature: 'AkcwRAIgefLz5vBG',
      authorization: {
        address: '0x5c1A180723D475',
        message: '{product} asks y',
        signature: '0x21045fd1468486',
      },
    }),
  proveSolanaWallet: (market: ParleyClient) =>
    market.proveWallet('solana', {
      address: '4ZT3bUEFF4tzsVnf',
      message: '{product} asks y',
      signature: '3R4U1H4fdLdtLP8B',
      authorization: {
        address: '0x5c1A180723D475',
        message: '{product} asks y',
        signature: '0xea9668f5e4bfb6',
      },
    }),
  removeWallet: (market: ParleyClient) =>
    market.removeWallet('TXZYomLydN1kuu8C'),
  listAsset: (market: ParleyClient) =>
    market.listAsset({ chain: 'evm-dev', address: '0xAcC7Aa3fFCd149' }),
  listAssets: (market: ParleyClient) =>
    market.assets({ chain: 'evm-dev', limit: 100 }),
  listAssetsOpenly: (market: ParleyClient) =>
    market.keyless.assets({ chain: 'evm-dev', limit: 2 }),
  getRules: (market: ParleyClient) =>
    market.rules(),
  getPair: (market: ParleyClient) =>
    market.pair({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
      direction: 'sell_base',
      baseAmount: '1000000',
    }),
  getPairOpenly: (market: ParleyClient) =>
    market.keyless.pair({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
      direction: 'sell_base',
      baseAmount: '1000000',
    }),
  getPairPrice: (market: ParleyClient) =>
    market.pairPrice({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
    }),
  getPairPriceOpenly: (market: ParleyClient) =>
    market.keyless.pairPrice({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
    }),
  getMarketStatus: (market: ParleyClient) =>
    market.status(),
  listRfqs: (market: ParleyClient) =>
    market.rfqs({
      direction: 'sell_base',
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      limit: 2,
    }),
  getRfq: (market: ParleyClient) =>
    market.rfq('01936b20-410d-70'),
  createRfq: (market: ParleyClient) =>
    market.createRfq({
      direction: 'sell_base',
      baseAssetId: '01936b20-3427-70',
      baseAmount: '1000000',
      ttlSeconds: 3600,
      quoteAssetId: '01936b20-e155-70',
      askAmount: '655000000',
    }),
  cancelRfq: (market: ParleyClient) =>
    market.cancelRfq('01936b20-410d-70'),
  listThreads: (market: ParleyClient) =>
    market.threadsOfRfq('01936b20-410d-70', { limit: 2 }),
  listQuotes: (market: ParleyClient) =>
    market.quotes({ role: 'maker', status: 'open', limit: 2 }),
  getThread: (market: ParleyClient) =>
    market.thread('01936b20-97ed-70'),
  getOtherRecord: (market: ParleyClient) =>
    market.recordOf('01936b20-97ed-70'),
  proposePrice: (market: ParleyClient) =>
    market.propose('01936b20-97ed-70', '650000000'),
  acceptPrice: (market: ParleyClient) =>
    market.accept('01936b20-512d-70', {
      quoteAmount: '10000000000',
      rules: {
        formula: 1,
        contract: { a: '7nSKHwmJDqGUTjSW', b: 'TTGkiNHFgBRrWJfy' },
        policies: { a: '8fbca9cd9c3e6246', b: '74806feaeef9a813' },
      },
    }),
  withdrawQuote: (market: ParleyClient) =>
    market.withdrawQuote('01936b20-97ed-70'),
  withdrawQuotes: (market: ParleyClient) =>
    market.withdrawQuotes(),
  quoteRfq: (market: ParleyClient) =>
    market.quote('01936b20-410d-70', '645000000', { validForSeconds: 600 }),
  quoteMany: (market: ParleyClient) =>
    market.quoteMany([
      {
        rfqId: '01936b20-410d-70',
        quoteAmount: '648000000',
        validForSeconds: 600,
      },
      {
        rfqId: '01936b20-7b23-70',
        quoteAmount: '1500000000000000',
        validForSeconds: 600,
      },
    ]),
  listLevels: (market: ParleyClient) =>
    market.levels({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
      direction: 'sell_base',
      baseAmount: '1000000',
    }),
  listLevelsOpenly: (market: ParleyClient) =>
    market.keyless.levels({
      baseAssetId: '01936b20-3427-7006-ad1e-c675902ef163',
      quoteAssetId: '01936b20-e155-7005-a96d-e8fc8c256fa1',
      direction: 'sell_base',
      baseAmount: '1000000',
    }),
  withdrawLevels: (market: ParleyClient) =>
    market.withdrawLevels(),
  publishLevels: (market: ParleyClient) =>
    market.publishLevels({
      baseAssetId: '01936b20-3427-70',
      quoteAssetId: '01936b20-e155-70',
      levels: [
        {
          direction: 'sell_base',
          baseAmount: '10000000',
          leastBaseAmount: '1000000',
          quoteAmount: '6450000000',
          validForSeconds: 600,
        },
      ],
    }),
  listSwaps: (market: ParleyClient) =>
    market.swaps({ status: 'counterparty_claimed', limit: 1 }),
  getSwap: (market: ParleyClient) =>
    market.swap('01936b20-a307-70'),
  setAddress: (market: ParleyClient) =>
    market.setAddress('01936b20-a307-70', { chain: 'evm-dev', address: '0x56b6a92e5095ab' }),
  buildFund: (market: ParleyClient) =>
    market.fund('01936b20-a307-70', 'b'),
  buildClaim: (market: ParleyClient) =>
    market.claim('01936b20-a307-70', 'a', '05608e060c507d56'),
  buildRefund: (market: ParleyClient) =>
    market.refund('01936b20-f99a-70', 'b'),
  scheduleRefunds: (market: ParleyClient) =>
    market.scheduleRefunds('01936b20-a307-70', 'b', {
      transactions: [
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
        '02000000000101bc',
      ],
    }),
  broadcast: (market: ParleyClient) =>
    market.broadcast('bitcoin-regtest', '02000000000101f3'),
  registerWebhook: (market: ParleyClient) =>
    market.registerWebhook({
      url: 'https://example.',
      events: [
        'swap.funded',
        'thread.accepted',
        'thread.proposed',
        'thread.closed',
      ],
    }),
  listWebhooks: (market: ParleyClient) =>
    market.webhooks({ limit: 2 }),
  deleteWebhook: (market: ParleyClient) =>
    market.removeWebhook('01936b20-43cd-70'),
  pingWebhook: (market: ParleyClient) =>
    market.pingWebhook('01936b20-43cd-70'),
};
