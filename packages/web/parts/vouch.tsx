// The market pays on Bitcoin only to a wallet of the account. The escrow's key is the page's own,
// so a wallet that signs in vouches for it, once.

import { families, has } from '@parley/core/families.ts';
import { linkWallet, type MessageSigner } from '@parley/sdk/keys.ts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import type { Engine } from '../engine/engine.ts';
import type { WalletName } from '../market/account.ts';
import { type SignedInAccount, usePayouts, useSession } from '../market/session.ts';
import { market } from '../market/site.ts';
import { text } from '../texts/texts.ts';
import { Notice } from './controls.tsx';
import { walletsChanged } from './own-key.ts';
import { Answer } from './page.tsx';
import { When } from './shown.tsx';
import { SignText } from './ways/sign-text.tsx';
import { WaysIn } from './ways/ways.tsx';

type VouchedProps = { engine: Pick<Engine, 'bitcoinSigner'> };

/** The phrase's key that escrows pay; refused as long as there is no phrase. */
export function useBitcoinSigner(engine: Pick<Engine, 'bitcoinSigner'>) {
  return useQuery({
    queryKey: ['bitcoin signer'],
    queryFn: () => engine.bitcoinSigner(),
    gcTime: 0,
  });
}

/** The way to a key on Bitcoin that the market pays; draws nothing once there is one. */
export function Vouched({ engine }: VouchedProps) {
  const key = useBitcoinSigner(engine);
  const payouts = usePayouts();
  const session = useSession();
  if (session.status !== 'account') return null;
  return (
    <Answer of={key}>
      {(signer) => (
        <Answer of={payouts}>
          {({ payouts: paid }) => {
            const own = paid.find(({ family }) => has(family, 'coins'));
            if (own?.receives.includes(signer.address) === true) return null;
            return <Vouch signer={signer} account={session.account} />;
          }}
        </Answer>
      )}
    </Answer>
  );
}

type VouchProps = { signer: MessageSigner; account: SignedInAccount };

function Vouch({ signer, account }: VouchProps) {
  const wallets = loginsOf(account);
  const [login] = wallets.filter(({ waitsUntil }) => waitsUntil === null);
  const vouch = async (by: MessageSigner) => {
    await linkWallet(market, signer, by);
    await walletsChanged();
  };
  return (
    <Notice kind="warn" title={text('vouch')}>
      <p>{text('vouch.why')}</p>
      {login === undefined ? (
        <LoginFirst waits={wallets[0]?.waitsUntil ?? null} />
      ) : (
        <SignText families={[login.family]} wanted={login.address} use={vouch} />
      )}
    </Notice>
  );
}

type LoginWallet = WalletName & { readonly waitsUntil: string | null };

/** Wallets that sign in; one that waits vouches for nothing yet. */
function loginsOf({ logins }: SignedInAccount): LoginWallet[] {
  return logins.flatMap(({ way, id, label, waitsUntil }): LoginWallet[] => {
    const family = families.find((each) => id.startsWith(`${each}:`));
    return way === 'wallet' && family !== undefined ? [{ family, address: label, waitsUntil }] : [];
  });
}

/** An account without a wallet: the key of this browser may sign in, or another wallet. */
function LoginFirst({ waits }: { waits: string | null }) {
  const { href } = useLocation();
  if (waits !== null) {
    return (
      <p>
        {text('vouch.waits')} <When at={waits} />
      </p>
    );
  }
  return (
    <>
      <p>{text('vouch.none')}</p>
      <WaysIn purpose="add" only={['wallet']} here={href} after={walletsChanged} />
    </>
  );
}
