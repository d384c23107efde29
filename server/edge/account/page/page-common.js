// What the parts of the account page share: asking the server, and building what is shown.

/** The answer; one that is no JSON, or none, is told as an error. */
export async function ask(method, path, body) {
  const { header } = document.body.dataset;
  try {
    const response = await fetch(path, {
      method,
      headers: {
        [header]: '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const code = response.headers.get(header.replace(/-request$/, '-error'));
    return { status: response.status, code, body: await response.json() };
  } catch {
    const error = 'The market does not answer. Look at your connection and try again.';
    return { status: 0, code: null, body: { error } };
  }
}

export function say(text, isFault = false) {
  const told = document.querySelector('#told');
  told.textContent = text;
  told.classList.toggle('fault', isFault);
}

export function fill(...parts) {
  document.querySelector('#view').replaceChildren(...parts.flat());
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

export function button(text, onclick) {
  const pressed = async (event) => {
    event.target.disabled = true;
    await onclick();
    event.target.disabled = false;
  };
  return make('button', { type: 'button', onclick: pressed }, text);
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

export function when(text) {
  return text === null ? '' : new Date(text).toLocaleString();
}
