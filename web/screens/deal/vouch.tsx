// The market pays on Bitcoin only to a wallet of the account. The escrow's key is the page's own,
// so a wallet that signs in vouches for it, once.

import { useState } from 'react';
import { type Family, families } from '../../../core/families.ts';
import { authorizeMessage, linkMessage, type MessageSigner } from '../../../sdk/keys.ts';
import type { Proof, WalletsOfFamily } from '../../../sdk/types.ts';
import type { WalletName } from '../../market/account.ts';
import { market } from '../../market/client.ts';
import { queries } from '../../market/queries.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Select } from '../../parts/select.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { SignOne } from '../../parts/ways/sign-text.tsx';
import { text } from '../../texts/texts.ts';

export type VouchProps = {
  /** The key of the next escrow on Bitcoin. */
  readonly signer: MessageSigner;
  readonly wallets: Readonly<Record<Family, WalletsOfFamily>>;
};

type Begun = { readonly login: WalletName; readonly proof: Proof; readonly message: string };

export function Vouch({ signer, wallets }: VouchProps) {
  const logins = families.flatMap((family): WalletName[] => {
    const { login } = wallets[family];
    return login === null ? [] : [{ family, address: login }];
  });
  const [chosen, setChosen] = useState(0);
  const [begun, setBegun] = useState<Begun | null>(null);
  const { busy, error, run } = useAct();
  const freshly = useFreshly();
  const login = logins[chosen];
  const begin = (by: WalletName) => run(async () => setBegun(await textsOf(signer, by)));
  const give = async ({ proof, message, login: { address } }: Begun, signature: string) => {
    const authorization = { address, message, signature };
    await freshly(() => market.proveWallet(signer.family, { ...proof, authorization }));
    await Promise.all(
      [['payouts'], ['me']].map((queryKey) => queries.invalidateQueries({ queryKey })),
    );
  };
  return (
    <Notice kind="warn" title={text('deal.vouch')}>
      <p>{text('deal.vouch.why')}</p>
      <p className="mono deal-contract">{signer.address}</p>
      {login === undefined && <p>{text('deal.vouch.none')}</p>}
      {logins.length > 1 && begun === null && (
        <Select
          label={text('deal.vouch.by')}
          value={String(chosen)}
          onChange={(at) => setChosen(Number(at))}
          options={logins.map(({ address }, at) => ({ value: String(at), label: address }))}
        />
      )}
      {login !== undefined && begun === null && (
        <Button kind="main" busy={busy} onPress={() => begin(login)}>
          {text('deal.vouch.action')}
        </Button>
      )}
      {error !== null && <Failed error={error} />}
      {begun !== null && (
        <SignOne
          {...begun.login}
          message={begun.message}
          onSigned={(signature) => give(begun, signature)}
        />
      )}
    </Notice>
  );
}

/** What the key has signed, and what the login wallet is to sign; good for ten minutes. */
async function textsOf(signer: MessageSigner, login: WalletName): Promise<Begun> {
  const { productName } = market;
  const { address } = signer;
  const [link, authorize] = [
    await market.walletNonce('link'),
    await market.walletNonce('authorize'),
  ];
  const message = linkMessage({ address, nonce: link.nonce, productName });
  const signature = await signer.signMessage(message);
  const named = { address, loginAddress: login.address, nonce: authorize.nonce, productName };
  return { login, proof: { address, message, signature }, message: authorizeMessage(named) };
}
