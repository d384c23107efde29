// Pictures of coins and chains as `data:` URLs, loaded when the first one is drawn.

import arbitrum from '@web3icons/core/svgs/networks/background/arbitrum-one.svg.js';
import base from '@web3icons/core/svgs/networks/background/base.svg.js';
import optimism from '@web3icons/core/svgs/networks/background/optimism.svg.js';
import avax from '@web3icons/core/svgs/tokens/background/AVAX.svg.js';
import bnb from '@web3icons/core/svgs/tokens/background/BNB.svg.js';
import btc from '@web3icons/core/svgs/tokens/background/BTC.svg.js';
import eth from '@web3icons/core/svgs/tokens/background/ETH.svg.js';
import eurc from '@web3icons/core/svgs/tokens/background/EURC.svg.js';
import pol from '@web3icons/core/svgs/tokens/background/POL.svg.js';
import sol from '@web3icons/core/svgs/tokens/background/SOL.svg.js';
import trx from '@web3icons/core/svgs/tokens/background/TRX.svg.js';
import usdc from '@web3icons/core/svgs/tokens/background/USDC.svg.js';
import usdt from '@web3icons/core/svgs/tokens/background/USDT.svg.js';

export type Marks = ReadonlyMap<string, string>;

/** By symbol, as the app's own table of assets spells it. */
export const coinMarks: Marks = drawn({
  BTC: btc,
  ETH: eth,
  SOL: sol,
  TRX: trx,
  USDC: usdc,
  USDT: usdt,
  USDT0: usdt,
  EURC: eurc,
  POL: pol,
  BNB: bnb,
  AVAX: avax,
});

/** By the chain's key where the app knows it, else by its family. */
export const chainMarks: Marks = drawn({
  bitcoin: btc,
  ethereum: eth,
  evm: eth,
  base,
  optimism,
  arbitrum,
  polygon: pol,
  bsc: bnb,
  avalanche: avax,
  tron: trx,
  solana: sol,
});

function drawn(all: Readonly<Record<string, string>>): Marks {
  const urlOf = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return new Map(Object.entries(all).map(([name, svg]) => [name, urlOf(svg)]));
}
