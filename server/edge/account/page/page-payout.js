// Where the account is paid: shown, changed in a wallet session, and stopped while it waits.

import {
  button,
  done,
  familyNames,
  field,
  fill,
  form,
  lasting,
  make,
  say,
  section,
  textToSign,
  thenShow,
  when,
} from './page-common.js';
import { askFreshly } from './page-sign-in.js';
import { programsHere, withWallets } from './page-wallet.js';

/** Renewing by anything but a wallet would make it a session that changes nothing here. */
const walletsOnly = true;

/** How many changes wait. */
export function waitsIn({ body }) {
  return (body.payouts ?? []).flatMap(({ waiting, leaving }) => [...waiting, ...leaving]).length;
}

export function payoutSection(me, answer, show) {
  const { status, body } = answer;
  if (status !== 200) return section('Where you are paid', make('p', {}, body.error));
  const stop = async (path, wallet, text) =>
    thenShow(await askFreshly('POST', path, wallet), text, show);
  const held = (family, address, text) => {
    const isLogin = me.logins.some(({ id, waitsUntil }) => {
      return id === `${family}:${address}` && waitsUntil !== null;
    });
    const end = async () => {
      const also = isLogin ? ' It is removed from your logins too.' : '';
      if (!confirm(`Stop it?${also} Every other session of this account ends.`)) return;
      await stop('/account/payout/stop', { family, address }, 'Stopped.');
    };
    return make(
      'li',
      {},
      shownWallet(family, address, text),
      button('Stop it', end, `${familyNames[family]} ${address}`),
    );
  };
  const items = body.payouts.flatMap(({ family, paid, receives, waiting, leaving }) => [
    make('li', {}, shownWallet(family, paid ?? 'nowhere yet', '')),
    ...receives
      .filter((address) => address !== paid)
      .map((address) => make('li', {}, shownWallet(family, address, ' where a swap names it'))),
    ...waiting.map(({ address, fromAt }) => held(family, address, ` waits until ${when(fromAt)}`)),
    ...leaving.map(({ address, at }) => held(family, address, ` is removed at ${when(at)}`)),
  ]);
  if (waitsIn(answer) > 1) {
    const all = async () => {
      if (!confirm('Stop all that waits? Every other session of this account ends.')) return;
      await stop('/account/payout/stop-all', undefined, 'All that waited is stopped.');
    };
    items.push(make('li', {}, button('Stop all that waits', all)));
  }
  return section('Where you are paid', make('ul', {}, ...items), ...changes(me, body, show));
}

function shownWallet(family, address, text) {
  return make('span', {}, `${familyNames[family]}: `, make('code', {}, address), text);
}

function changes(me, { payouts }, show) {
  if (me.walletSession) {
    return [
      choosing('Another wallet is paid', true, payouts, show),
      choosing('Another wallet may be named by swaps', false, payouts, show),
    ];
  }
  const text = me.logins.some(({ way }) => way === 'wallet')
    ? 'Sign in with a wallet of this account to change where you are paid.'
    : 'Add a wallet as a login to be paid.';
  return [make('p', {}, text)];
}

function choosing(title, paid, payouts, show) {
  const begin = (wallet) => askFreshly('POST', '/account/payout', { ...wallet, paid }, walletsOnly);
  const prove = async (wallet, message, signature, { voucher, waitSeconds }) => {
    const send = async (more) => {
      const body = { ...wallet, paid, message, signature, ...more };
      const answer = await askFreshly('POST', '/account/payout/proof', body, walletsOnly);
      if (!done(answer)) {
        // Whatever was wrong, both texts are good once.
        await show();
        say(`${answer.body.error}. Nothing changed: begin again.`, true);
        return true;
      }
      await show();
      const from = Date.parse(answer.body.fromAt) > Date.now() + 1_000;
      say(from ? `It waits until ${when(answer.body.fromAt)}.` : 'It counts from now on.');
      return true;
    };
    if (voucher === null) return send({});
    vouching(voucher, waitSeconds, send, show);
    return true;
  };
  const families = payouts.map(({ family }) => family);
  return withWallets(title, families, begin, prove);
}

/** The wallet that is paid now, or was signed in with, signs too: in this browser or elsewhere. */
function vouching({ family, address, message }, waitSeconds, send, show) {
  const signed = (signature) => send({ voucher: { message, signature } });
  const programs = programsHere([family]).map((program) =>
    button(`Sign with ${program.name}`, async () => {
      try {
        const own = await program.address();
        if (own.toLowerCase() !== address.toLowerCase()) {
          return say(`${program.name} shows ${own}. Choose ${address} there first.`, true);
        }
        return await signed(await program.sign(message));
      } catch (error) {
        return say(`The wallet refused: ${error?.message ?? 'without a reason'}`, true);
      }
    }),
  );
  const how = `With a signature of ${address} it counts at once. Without it, in ${lasting(waitSeconds)}.`;
  const give = ({ other }) => signed(other.trim());
  fill(
    section(
      'A second signature',
      make('p', {}, how),
      ...programs,
      ...textToSign(message),
      form('Sign with both', [field('Its signature', 'other', { required: true })], give),
      button('Wait instead', () => send({})),
      button('Back', show),
    ),
  );
}
