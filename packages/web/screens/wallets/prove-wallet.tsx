// Proves a further wallet, so that the account may trade with it. It is paid nothing by that.

import { families } from '@parley/core/families.ts';
import { linkMessage } from '@parley/sdk/keys.ts';
import type { SignedText, WalletName } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { SignText } from '../../parts/ways/sign-text.tsx';
import { text } from '../../texts/texts.ts';

type ProveWalletProps = { readonly onDone: (sentence: string) => Promise<void> };

export function ProveWallet({ onDone }: ProveWalletProps) {
  const freshly = useFreshly();
  const begin = async ({ address }: WalletName) => {
    const { nonce } = await market.walletNonce('link');
    return { message: linkMessage({ address, nonce, productName: market.productName }) };
  };
  const prove = async ({ family, address }: WalletName, signed: SignedText) => {
    await freshly(() => market.proveWallet(family, { address, ...signed }));
    await onDone(text('wallets.proved'));
  };
  return (
    <section className="panel">
      <h2>{text('wallets.prove.title')}</h2>
      <p>{text('wallets.prove.what')}</p>
      <SignText families={families} begin={begin} prove={prove} />
    </section>
  );
}
