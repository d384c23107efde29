// Puts the newest figures into the page every few seconds, and says loudly when none come: old
// figures look like a market that works.

const everyMs = 5_000;
const lost = document.querySelector('#lost');
let shownAt = new Date();

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(everyMs) });
    if (!answer.ok) throw new Error(String(answer.status));
    show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    shownAt = new Date();
    lost.hidden = true;
  } catch {
    lost.textContent = `No answer since ${shownAt.toLocaleTimeString()}. The figures below are old.`;
    lost.hidden = false;
  }
}

function show(next) {
  for (const what of ['main', '#clock']) {
    const [now, then] = [document.querySelector(what), next.querySelector(what)];
    if (now === null || then === null) throw new Error('another page');
    // A selection of a command in the page is kept while nothing changed there.
    for (const [at, part] of [...then.children].entries()) {
      const old = now.children[at];
      if (old === undefined || old.outerHTML !== part.outerHTML) old?.replaceWith(part);
    }
    if (then.children.length === 0) now.textContent = then.textContent;
  }
}

setInterval(refresh, everyMs);
document.addEventListener('visibilitychange', refresh);
