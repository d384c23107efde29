// The account that is signed in.

import {
  ask,
  button,
  copied,
  done,
  familyNames,
  field,
  fill,
  form,
  make,
  say,
  section,
  thenShow,
  when,
} from './page-common.js';
import { addPasskey } from './page-passkey.js';
import { payoutSection, waitsIn } from './page-payout.js';
import { askFreshly, waysOf } from './page-sign-in.js';

const ways = { email: 'e-mail', provider: 'provider', passkey: 'passkey', wallet: 'wallet' };

export async function accountView(me, show) {
  const payout = await ask('GET', '/account/payout');
  const view = [section('You', ...aboutYou(me, payout, show)), loginsSection(me, show)];
  view.push(await keysSection(me), payoutSection(me, payout, show));
  view.push(await sessionsSection(show), endSection(me, show));
  return view;
}

function aboutYou(me, payout, show) {
  const { signedInBy, signedInAt } = me.session;
  const held =
    'A change of who is paid waits. If it is not yours, stop it below, and end all other sessions.';
  return [
    make(
      'p',
      {},
      `Signed in by ${ways[signedInBy]}, ${when(signedInAt)}. Account `,
      make('code', {}, me.accountId),
    ),
    waitsIn(payout) === 0 ? null : make('p', { role: 'alert' }, held),
    me.recovery === null ? null : make('p', { role: 'note' }, me.recovery),
    button('Sign out', async () => {
      await thenShow(await ask('POST', '/account/sign-out'), 'Signed out.', show);
    }),
  ].filter((each) => each !== null);
}

/** What a login is called, and where it is from. */
function named({ way, label, issuer, id }) {
  if (way === 'wallet') return [label, `wallet, ${familyNames[id.split(':')[0]]}`];
  return [label, issuer === null ? ways[way] : `provider, ${new URL(issuer).host}`];
}

function loginsSection(me, show) {
  const items = me.logins.map((login) => {
    const { id, addedAt, backedUp, messages, waitsUntil, leavesAt } = login;
    const [label, kind] = named(login);
    const facts = [
      `${kind}, added ${when(addedAt)}`,
      backedUp === null ? '' : backedUp ? 'backed up' : 'on one device only: add another login',
      messages === 'ended' ? 'messages ended: the bot was blocked; sign in with it again' : '',
      waitsUntil === null ? '' : `receives nothing before ${when(waitsUntil)}`,
      leavesAt === null ? '' : `removed at ${when(leavesAt)}, unless you stop it below`,
    ].filter((each) => each !== '');
    const told = ({ leavesAt: at }) =>
      at === null ? 'Removed.' : `It is removed at ${when(at)}, unless you stop it below.`;
    const remove = async () => {
      if (!confirm(`Remove ${label}? Every other session of this account ends.`)) return;
      const path = `/account/logins/${encodeURIComponent(id)}`;
      await thenShow(await askFreshly('DELETE', path), told, show);
    };
    return make(
      'li',
      {},
      make('span', {}, make('code', {}, label), ` (${facts.join(', ')})`),
      leavesAt === null ? button('Remove', remove, label) : '',
    );
  });
  const add = async () => {
    fill(
      section('Add a login', make('p', {}, 'It leads to this account from then on.')),
      addPasskey(show, askFreshly),
      await waysOf('add', { after: show, back: add }),
      button('Back', show),
    );
  };
  return section('Logins', make('ul', {}, ...items), button('Add a login', add));
}

/** Shows its keys anew by itself, so that what was minted stays to be copied. */
async function keysSection(me) {
  const list = make('ul');
  const minted = make('p', { id: 'minted' });
  let live = [];
  const draw = async () => {
    const { status, body } = await ask('GET', '/account/keys');
    if (status !== 200) return list.replaceChildren(make('li', {}, body.error));
    live = body.keys;
    list.replaceChildren(...live.map(shownKey));
  };
  const shownKey = ({ id, prefix, name, scopes, usedOn, usedFrom, expiresAt }) => {
    const used = usedOn === null ? 'never used' : `used on ${usedOn} from ${usedFrom}`;
    const facts = `${name ?? 'without a name'}; ${scopes.join(', ')}; ${used}; until ${when(expiresAt)}`;
    const revoke = async () => {
      if (!confirm(`Revoke ${prefix}…? Programs that use it are refused from now on.`)) return;
      const answer = await askFreshly('DELETE', `/account/keys/${id}`);
      if (!done(answer, 'Revoked.')) return;
      minted.replaceChildren();
      await draw();
    };
    return make(
      'li',
      {},
      make('span', {}, make('code', {}, `${prefix}…`), ` ${facts}`),
      button('Revoke', revoke, prefix),
    );
  };
  const send = async ({ name, lifeDays, ...boxes }) => {
    const scopes = Object.keys(boxes);
    minted.replaceChildren();
    if (scopes.length === 0) return say('Choose what the key may do: read, taker or maker.', true);
    const replaces = `The new key replaces ${live[0]?.prefix}…: programs that use that are refused.`;
    if (me.kind === 'wallet' && live.length > 0 && !confirm(replaces)) return;
    const wanted = { name: name.trim(), scopes, lifeDays: Number(lifeDays) };
    const answer = await askFreshly('POST', '/account/keys', wanted);
    if (!done(answer, 'The key is shown once. Copy it now.')) return;
    minted.replaceChildren(...copied(make('code', {}, answer.body.key), answer.body.key));
    await draw();
  };
  const boxes = ['read', 'taker', 'maker'].map((name) =>
    make(
      'label',
      {},
      make('span', {}, make('input', { type: 'checkbox', name, checked: true }), ` ${name}`),
    ),
  );
  const days = { type: 'number', min: '1', max: '90', value: '90', required: true };
  const fields = [
    field('Name', 'name', { required: true, maxlength: '80', pattern: '.*\\S.*' }),
    field('Days', 'lifeDays', days),
    ...boxes,
  ];
  const rule =
    me.kind === 'wallet'
      ? 'An account of wallets and passkeys alone holds one key: a new one replaces it.'
      : 'The account holds up to ten keys.';
  await draw();
  return section('API keys', make('p', {}, rule), list, form('Mint a key', fields, send), minted);
}

async function sessionsSection(show) {
  const { status, body } = await ask('GET', '/account/sessions');
  if (status !== 200) return section('Sessions', make('p', {}, body.error));
  const items = body.sessions.map((each) => {
    const facts = `${each.device}, ${each.place}, since ${when(each.madeAt)}, used ${when(each.lastUsedAt)}`;
    const end = async () => {
      await thenShow(await ask('DELETE', `/account/sessions/${each.id}`), 'Ended.', show);
    };
    return make(
      'li',
      {},
      make('span', {}, each.current ? `${facts} (this one)` : facts),
      each.current ? null : button('End', end, facts),
    );
  });
  const all = async () => {
    await thenShow(await ask('DELETE', '/account/sessions'), 'All others have ended.', show);
  };
  return section('Sessions', make('ul', {}, ...items), button('End all others', all));
}

function endSection(me, show) {
  const remove = async () => {
    const [label] = named(me.logins[0]);
    const asked = `Delete the account of ${label}? Its keys, sessions, logins and webhooks end now.`;
    if (!confirm(asked)) return;
    await thenShow(await askFreshly('DELETE', '/account/me'), 'The account is deleted.', show);
  };
  const text =
    'Refused while swaps, orders or quotes are open. Keys, sessions, logins and webhooks end. ' +
    'Swaps stay without your name: their addresses are on the chains too.';
  return section('Delete the account', make('p', {}, text), button('Delete the account', remove));
}
