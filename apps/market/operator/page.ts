// The operator's page: the doctor, the metrics and the database as they are now, in whole
// coins and plain words. It only shows: no button, no form, no secret (decisions 0053 and 0116).

import { chainsCard, gasCard, processCard, requestsCard, waitingCard } from './cards.ts';
import { deadlinesCard } from './deadlines-card.ts';
import { doctorCard } from './doctor-card.ts';
import type { Seen } from './read.ts';
import { clock, html, type Markup } from './words.ts';

/** Refreshed by the script; without it the reader loads the page again. */
export function page(seen: Seen): Markup {
  const { product, network, nowMs } = seen;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${product} operator</title>
<link rel="icon" href="operator/icon.svg">
<link rel="stylesheet" href="operator/tokens.css">
<link rel="stylesheet" href="operator/font.css">
<link rel="stylesheet" href="operator/page.css">
<script src="operator/live.js" type="module"></script>
</head>
<body>
<header>
<p class="brand"><img src="operator/icon.svg" alt="" width="30" height="30">${product} <span class="dim">operator</span></p>
<p class="right"><span class="chip">${network}</span><span class="chip" id="clock">${clock(nowMs)}</span></p>
</header>
<p id="lost" role="status" class="lost" hidden></p>
<main>
${doctorCard(seen)}
${deadlinesCard(seen)}
<div class="two">${chainsCard(seen)}${gasCard(seen)}</div>
<div class="two">${waitingCard(seen)}${requestsCard(seen)}</div>
${processCard(seen)}
</main>
<footer><p class="dim">Point at a figure to see which metric it is. The page changes nothing: <code>npm run ops -- help</code> lists the commands that do.</p></footer>
</body>
</html>
`;
}
