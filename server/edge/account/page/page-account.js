// The account that is signed in.

import { ask, button, done, field, fill, form, make, section, when } from './page-common.js';
import { addPasskey } from './page-passkey.js';
import { freshened, waysOf } from './page-sign-in.js';
import { withWallets } from './page-wallet.js';

export async function accountView(me, show) {
  const view = [section('You', ...aboutYou(me, show))];
  view.push(loginsSection(me, show), await keysSection(show), await payoutSection(me, show));
  view.push(await sessionsSection(show), endSection(show));
  return view;
}

function aboutYou(me, show) {
  const { signedInBy, signedInAt } = me.session;
  return [
    make(
      'p',
      {},
      `Signed in by ${signedInBy}, ${when(signedInAt)}. Account `,
      make('code', {}, me.accountId),
    ),
    me.recovery === null ? null : make('p', { role: 'note' }, me.recovery),
    button('Sign out', async () => {
      if (done(await ask('POST', '/account/sign-out'), 'Signed out.')) await show();
    }),
  ].filter((each) => each !== null);
}

/** Where the session is too old for it: signs in again, and does it then. */
async function freshly(work, text, show) {
  const answer = await work();
  if (answer.code === 'session_stale') return freshened(() => freshly(work, text, show), show);
  if (done(answer, text)) await show();
}

function loginsSection(me, show) {
  const items = me.logins.map(({ id, way, label, backedUp, messages, waitsUntil }) => {
    const facts = [
      way,
      backedUp === null ? '' : backedUp ? 'backed up' : 'on one device only',
      messages === 'ended' ? 'messages ended: the bot was blocked; sign in with it again' : '',
      waitsUntil === null ? '' : `receives nothing before ${when(waitsUntil)}`,
    ].filter((each) => each !== '');
    const path = `/account/logins/${encodeURIComponent(id)}`;
    const remove = () => freshly(() => ask('DELETE', path), 'Removed.', show);
    return make(
      'li',
      {},
      make('span', {}, make('code', {}, label), ` (${facts.join(', ')})`),
      button('Remove', remove),
    );
  });
  const add = async () => {
    if (Date.parse(me.freshUntil) < Date.now()) return freshened(add, show);
    fill(
      section('Add a login', make('p', {}, 'It leads to this account from then on.')),
      addPasskey(show),
      await waysOf('add', show),
      button('Back', show),
    );
  };
  return section('Logins', make('ul', {}, ...items), button('Add a login', add));
}

async function keysSection(show) {
  const { status, body } = await ask('GET', '/account/keys');
  if (status !== 200) return section('API keys', make('p', {}, body.error));
  const items = body.keys.map((key) => {
    const used = key.usedOn === null ? 'never used' : `used on ${key.usedOn} from ${key.usedFrom}`;
    const facts = `${key.name ?? 'without a name'}; ${key.scopes.join(', ')}; ${used}; until ${when(key.expiresAt)}`;
    const revoke = () => freshly(() => ask('DELETE', `/account/keys/${key.id}`), 'Revoked.', show);
    return make(
      'li',
      {},
      make('span', {}, make('code', {}, key.prefix), ` ${facts}`),
      button('Revoke', revoke),
    );
  });
  const minted = make('p', { id: 'minted' });
  const send = async ({ name, lifeDays, ...scopes }) => {
    const wanted = { name, scopes: Object.keys(scopes), lifeDays: Number(lifeDays) };
    const answer = await ask('POST', '/account/keys', wanted);
    if (answer.code === 'session_stale') return freshened(async () => {}, show);
    if (!done(answer, 'The key is shown once. Copy it now.')) return;
    minted.replaceChildren(make('code', {}, answer.body.key));
  };
  const boxes = ['read', 'taker', 'maker'].map((name) =>
    make(
      'label',
      {},
      make('span', {}, make('input', { type: 'checkbox', name, checked: true }), ` ${name}`),
    ),
  );
  const fields = [
    field('Name', 'name', { required: true, maxlength: '80' }),
    field('Days', 'lifeDays', { type: 'number', min: '1', max: '90', value: '90' }),
    ...boxes,
  ];
  return section('API keys', make('ul', {}, ...items), form('Mint a key', fields, send), minted);
}

async function payoutSection(me, show) {
  const { status, body } = await ask('GET', '/account/payout');
  if (status !== 200) return section('Where you are paid', make('p', {}, body.error));
  const items = body.payouts.flatMap(({ family, paid, waiting }) => [
    make('li', {}, make('span', {}, `${family}: `, make('code', {}, paid ?? 'nowhere yet'))),
    ...waiting.map(({ address, fromAt }) => {
      const stop = async () => {
        if (done(await ask('POST', '/account/payout/stop', { family, address }), 'Stopped.'))
          await show();
      };
      const text = ` waits until ${when(fromAt)}`;
      return make(
        'li',
        {},
        make('span', {}, `${family}: `, make('code', {}, address), text),
        button('Stop it', stop),
      );
    }),
  ]);
  const why = 'Sign in with a wallet of this account to change where you are paid.';
  const change = me.walletSession ? choosing(body.payouts, show) : make('p', {}, why);
  return section('Where you are paid', make('ul', {}, ...items), change);
}

function choosing(payouts, show) {
  const begin = (wallet) => ask('POST', '/account/payout', { ...wallet, paid: true });
  const prove = async (wallet, message, signature, { voucher, waitSeconds }) => {
    const choice = { ...wallet, paid: true, message, signature };
    const send = (more) =>
      freshly(() => ask('POST', '/account/payout/proof', { ...choice, ...more }), 'Stored.', show);
    if (voucher === null) return send({});
    const text = make('textarea', { readonly: true, 'aria-label': 'The text to sign' });
    text.value = voucher.message;
    const give = ({ other }) =>
      send({ voucher: { message: voucher.message, signature: other.trim() } });
    fill(
      section(
        'The wallet of before',
        make(
          'p',
          {},
          `With a signature of ${voucher.address} it counts at once. Without it, in ${waitSeconds / 3600} hours.`,
        ),
        text,
        form('Sign with both', [field('Its signature', 'other', { required: true })], give),
        button('Wait instead', () => send({})),
      ),
    );
  };
  return withWallets(
    'Another wallet',
    payouts.map(({ family }) => family),
    begin,
    prove,
  );
}

async function sessionsSection(show) {
  const { status, body } = await ask('GET', '/account/sessions');
  if (status !== 200) return section('Sessions', make('p', {}, body.error));
  const items = body.sessions.map((each) => {
    const facts = `${each.device}, ${each.place}, since ${when(each.madeAt)}, used ${when(each.lastUsedAt)}`;
    const end = async () => {
      if (done(await ask('DELETE', `/account/sessions/${each.id}`), 'Ended.')) await show();
    };
    return make(
      'li',
      {},
      each.current ? `${facts} (this one)` : facts,
      each.current ? null : button('End', end),
    );
  });
  const all = async () => {
    if (done(await ask('DELETE', '/account/sessions'), 'All others have ended.')) await show();
  };
  return section('Sessions', make('ul', {}, ...items), button('End all others', all));
}

function endSection(show) {
  const remove = async () => {
    if (!confirm('Delete this account? Its keys, sessions, logins and webhooks end now.')) return;
    await freshly(() => ask('DELETE', '/account/me'), 'The account is deleted.', show);
  };
  const text =
    'Refused while swaps, orders or quotes are open. Keys, sessions, logins and webhooks end. ' +
    'Swaps stay without your name: their addresses are on the chains too.';
  return section('Delete the account', make('p', {}, text), button('Delete the account', remove));
}
