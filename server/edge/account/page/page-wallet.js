// Wallets: by a wallet program in this browser where there is one, else by a text that is signed
// elsewhere and a signature that is pasted.

import {
  ask,
  button,
  done,
  field,
  form,
  loginAdded,
  make,
  say,
  section,
  textToSign,
  thenShow,
} from './page-common.js';

const names = {
  evm: 'Ethereum and others (EVM)',
  tron: 'TRON',
  solana: 'Solana',
  bitcoin: 'Bitcoin',
};
const signedAs = {
  evm: 'personal_sign; hex',
  tron: 'signMessageV2; hex',
  solana: 'signMessage; base58',
  bitcoin: 'BIP-322 (simple); base64',
};

/** EIP-6963: programs that announced themselves, by name. */
const evmPrograms = new Map();
addEventListener('eip6963:announceProvider', ({ detail }) => {
  evmPrograms.set(detail.info.name, detail.provider);
});
dispatchEvent(new Event('eip6963:requestProvider'));

/** What each family's programs here can do: the address, and a signature over a text. */
export function programsHere(families) {
  const found = [];
  if (families.includes('evm')) {
    for (const [name, provider] of evmPrograms)
      found.push({ family: 'evm', name, ...evm(provider) });
  }
  if (families.includes('tron') && window.tronWeb?.defaultAddress?.base58) {
    const { tronWeb } = window;
    found.push({
      family: 'tron',
      name: 'TronLink',
      address: async () => tronWeb.defaultAddress.base58,
      sign: (message) => tronWeb.trx.signMessageV2(message),
    });
  }
  if (families.includes('solana') && window.solana?.signMessage) {
    found.push({ family: 'solana', name: 'Solana wallet', ...solana(window.solana) });
  }
  return found;
}

function evm(provider) {
  let account = '';
  return {
    address: async () => {
      [account] = await provider.request({ method: 'eth_requestAccounts' });
      return account;
    },
    sign: (message) => {
      const bytes = new TextEncoder().encode(message);
      const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      return provider.request({ method: 'personal_sign', params: [`0x${hex}`, account] });
    },
  };
}

function solana(provider) {
  return {
    address: async () => (await provider.connect()).publicKey.toString(),
    sign: async (message) => {
      const { signature } = await provider.signMessage(new TextEncoder().encode(message), 'utf8');
      return base58(signature);
    },
  };
}

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
function base58(bytes) {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  let text = '';
  for (; number > 0n; number /= 58n) text = digits[Number(number % 58n)] + text;
  return '1'.repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}

/** `asking`: how its text is asked for; `refused`: true where it has shown a refusal itself. */
export function walletWay(purpose, families, { after, refused, asking }) {
  const begin = (wallet) => asking('POST', '/account/wallet', { ...wallet, purpose });
  const prove = async (wallet, message, signature) => {
    const body = { ...wallet, message, signature };
    const answer = await ask('POST', '/account/wallet/proof', body);
    if (refused(answer)) return true;
    return thenShow(answer, purpose === 'add' ? loginAdded : '', after);
  };
  return withWallets('By wallet', families, begin, prove);
}

/** A section in which a wallet signs the text that `begin` answers; `prove`: whether it was taken. */
export function withWallets(title, families, begin, prove) {
  const by = async ({ family, address, sign }) => {
    try {
      const wallet = { family, address: await address() };
      const begun = await begin(wallet);
      if (!done(begun, 'Look at your wallet: it shows what you sign.')) return;
      await prove(wallet, begun.body.message, await sign(begun.body.message), begun.body);
    } catch (error) {
      say(`The wallet refused: ${error?.message ?? 'without a reason'}`, true);
    }
  };
  const programs = programsHere(families).map((each) => button(`Use ${each.name}`, () => by(each)));
  return section(title, ...programs, elsewhere(families, begin, prove));
}

function elsewhere(families, begin, prove) {
  const place = make('div');
  const options = families.map((each) => make('option', { value: each }, names[each]));
  const family = make('label', {}, 'Wallet', make('select', { name: 'family' }, ...options));
  const address = field('Address', 'address', { required: true, autocomplete: 'off' });
  const send = async (wallet) => {
    const begun = await begin(wallet);
    if (!done(begun, 'Sign exactly this text with your wallet.')) return;
    const label = `Signature (${signedAs[wallet.family]})`;
    const { message } = begun.body;
    const give = async ({ signature }) => {
      if (await prove(wallet, message, signature.trim(), begun.body)) return;
      // Whatever was wrong with it, a text is good once.
      place.replaceChildren(make('p', {}, 'That text is used up. Press "Show the text" again.'));
    };
    place.replaceChildren(
      ...textToSign(message),
      form('Go on', [field(label, 'signature', { required: true })], give),
    );
  };
  const details = make('details', {}, make('summary', {}, 'Sign a text by hand'));
  details.append(form('Show the text', [family, address], send), place);
  return details;
}
