// What the parts of the account page share: asking the server, and building what is shown.

/** The account that the page shows: the market does nothing to another one. */
let shownAccount = null;
/** Told when nobody is signed in any more. */
let signedOut = () => {};

export function showing(accountId, whenSignedOut) {
  shownAccount = accountId;
  signedOut = whenSignedOut;
}

/** The answer; one that is no JSON, or none, is told as an error. */
export async function ask(method, path, body) {
  const { header } = document.body.dataset;
  const accountHeader = header.replace(/-request$/, '-account');
  const askedAs = shownAccount;
  try {
    const response = await fetch(path, {
      method,
      headers: {
        [header]: '1',
        ...(askedAs === null ? {} : { [accountHeader]: askedAs }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const code = response.headers.get(header.replace(/-request$/, '-error'));
    const answer = { status: response.status, code, body: await response.json() };
    // Of an account that is shown no more, it says nothing of the one that is.
    if (askedAs === null || askedAs !== shownAccount) return answer;
    if (code === 'session_missing' || code === 'session_ended' || code === 'other_account') {
      signedOut();
    }
    return answer;
  } catch {
    const error = 'The market does not answer. Look at your connection and try again.';
    return { status: 0, code: null, body: { error } };
  }
}

export function say(text, isFault = false) {
  const told = document.querySelector('#told');
  told.textContent = text.charAt(0).toUpperCase() + text.slice(1);
  told.classList.toggle('fault', isFault);
}

/** Another view: what was said of the former one is gone, and readers begin at its heading. */
export function fill(...parts) {
  say('');
  document.querySelector('#view').replaceChildren(...parts.flat());
  const heading = document.querySelector('#view h2');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus();
}

/** An element: its attributes and listeners (`onclick`), then texts and elements inside. */
export function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...inside.flat().filter((each) => each !== null));
  return element;
}

export function section(title, ...inside) {
  return make('section', {}, make('h2', {}, title), ...inside);
}

/** A field with its label around it. */
export function field(label, name, attributes = {}) {
  return make('label', {}, label, make('input', { name, ...attributes }));
}

/** A form whose fields arrive by name; it cannot be sent twice at once. */
export function form(button, fields, send) {
  const submit = make('button', { type: 'submit' }, button);
  const onsubmit = async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(event.target)));
    } finally {
      submit.disabled = false;
    }
  };
  return make('form', { onsubmit }, ...fields, submit);
}

/** `about`: what it is done to, where several buttons are called alike. */
export function button(text, onclick, about = null) {
  const pressed = async (event) => {
    event.target.disabled = true;
    await onclick();
    event.target.disabled = false;
  };
  const label = about === null ? null : `${text}: ${about}`;
  return make('button', { type: 'button', onclick: pressed, 'aria-label': label }, text);
}

/** A text with a button that copies it. */
export function copied(element, text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  };
  return [element, button('Copy', copy)];
}

/** Shows `text`, to be signed elsewhere. */
export function textToSign(text) {
  const area = make('textarea', { readonly: true, 'aria-label': 'The text to sign' });
  area.value = text;
  return copied(area, text);
}

/** Tells what was refused; true where it was done. */
export function done({ status, body }, text = '') {
  if (status >= 200 && status < 300) {
    say(text);
    return true;
  }
  say(body.error, true);
  return false;
}

/** What giving the proof of a login to an account came to. */
export function loginAdded({ outcome }) {
  if (outcome === 'added') return 'The login is added.';
  return 'It was a login of this account before, and nothing was added. You have signed in again.';
}

/**
 * Where it was done: shows the next view, and says so there, unless another view came before it.
 * `text`: of the answer, or as it is.
 */
export async function thenShow(answer, text, show) {
  if (!done(answer)) return false;
  if ((await show()) === false) return true;
  say(typeof text === 'function' ? text(answer.body) : text);
  return true;
}

export function when(text) {
  return text === null ? '' : new Date(text).toLocaleString();
}

/** Such as `1 h 23 min 20 s`. */
export function lasting(seconds) {
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ].filter(([count]) => count > 0);
  return parts.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

export const familyNames = { evm: 'EVM', tron: 'TRON', bitcoin: 'Bitcoin', solana: 'Solana' };
