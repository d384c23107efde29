// The market pays on Bitcoin only to a wallet of the account. The escrow's key is the page's own,
// so a wallet that signs in vouches for it, once.

import { type Family, families, has } from '@parley/core/families.ts';
import { authorizeMessage, linkMessage, type MessageSigner } from '@parley/sdk/keys.ts';
import type { Proof, WalletsOfFamily } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Engine } from '../engine/engine.ts';
import type { WalletName } from '../market/account.ts';
import { lookAgain, useMe, usePayouts, useSession } from '../market/session.ts';
import { market, queries } from '../market/site.ts';
import { text } from '../texts/texts.ts';
import { useAct } from './act.tsx';
import { Button, Notice, Select } from './controls.tsx';
import { Answer, Failed } from './page.tsx';
import { FreshGate } from './ways/fresh.tsx';
import { SignOne } from './ways/sign-text.tsx';
import { WaysIn } from './ways/ways.tsx';

type VouchedProps = {
  engine: Pick<Engine, 'bitcoinSigner'>;
  children: ReactNode;
};

/** The phrase's key that escrows pay; refused as long as there is no phrase. */
export function useBitcoinSigner(engine: Pick<Engine, 'bitcoinSigner'>) {
  return useQuery({
    queryKey: ['bitcoin signer'],
    queryFn: () => engine.bitcoinSigner(),
    gcTime: 0,
  });
}

/** Content that needs a key on Bitcoin that the market pays; until there is one, the way to it. */
export function Vouched({ engine, children }: VouchedProps) {
  const key = useBitcoinSigner(engine);
  const payouts = usePayouts();
  const me = useMe();
  return (
    <Answer of={key}>
      {(signer) => (
        <Answer of={payouts}>
          {({ payouts: paid }) => {
            const own = paid.find(({ family }) => has(family, 'coins'));
            if (own?.receives.includes(signer.address) === true) return children;
            return (
              <Answer of={me}>
                {({ wallets }) => (
                  <Fresh>
                    <Vouch signer={signer} wallets={wallets} />
                  </Fresh>
                )}
              </Answer>
            );
          }}
        </Answer>
      )}
    </Answer>
  );
}

/** A wallet is added by a session that is fresh: the sign-in is asked for on the spot. */
function Fresh({ children }: { children: ReactNode }) {
  const session = useSession();
  const { href } = useLocation();
  if (session.status !== 'account') return null;
  return (
    <FreshGate account={session.account} here={href}>
      {children}
    </FreshGate>
  );
}

type VouchProps = {
  signer: MessageSigner;
  wallets: Readonly<Record<Family, WalletsOfFamily>>;
};

type Begun = { readonly login: WalletName; readonly proof: Proof; readonly message: string };

function Vouch({ signer, wallets }: VouchProps) {
  const logins = families.flatMap((family): WalletName[] => {
    const { login } = wallets[family];
    return login === null ? [] : [{ family, address: login }];
  });
  const [chosen, setChosen] = useState(0);
  const [begun, setBegun] = useState<Begun | null>(null);
  const { busy, error, run } = useAct();
  const { href: here } = useLocation();
  const login = logins[chosen];
  const added = async () => {
    await Promise.all([lookAgain(), queries.invalidateQueries({ queryKey: ['me'] })]);
  };
  const begin = (by: WalletName) => run(async () => setBegun(await textsOf(signer, by)));
  const give = async ({ proof, message, login: { address } }: Begun, signature: string) => {
    const authorization = { address, message, signature };
    await market.proveWallet(signer.family, { ...proof, authorization });
    await Promise.all(
      [['payouts'], ['me']].map((queryKey) => queries.invalidateQueries({ queryKey })),
    );
  };
  return (
    <Notice kind="warn" title={text('vouch')}>
      <p>{text('vouch.why')}</p>
      <p className="mono anywhere">{signer.address}</p>
      {login === undefined && (
        <>
          <p>{text('vouch.none')}</p>
          <WaysIn purpose="add" only={['wallet']} here={here} after={added} />
        </>
      )}
      {logins.length > 1 && begun === null && (
        <Select
          label={text('vouch.by')}
          value={String(chosen)}
          onChange={(at) => setChosen(Number(at))}
          options={logins.map(({ address }, at) => ({ value: String(at), label: address }))}
        />
      )}
      {login !== undefined && begun === null && (
        <Button kind="main" busy={busy} onPress={() => begin(login)}>
          {text('vouch.action')}
        </Button>
      )}
      <Failed error={error} />
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

/** The text that the key has signed, and the one for the login wallet; good for ten minutes. */
async function textsOf(signer: MessageSigner, login: WalletName): Promise<Begun> {
  const { productName } = market;
  const { address } = signer;
  const link = await market.walletNonce('link');
  const authorize = await market.walletNonce('authorize');
  const message = linkMessage({ address, nonce: link.nonce, productName });
  const signature = await signer.signMessage(message);
  const named = { address, loginAddress: login.address, nonce: authorize.nonce, productName };
  return { login, proof: { address, message, signature }, message: authorizeMessage(named) };
}
