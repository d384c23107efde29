// Texts of status.

import type { status as english } from '../en/status.ts';
import type { Words } from '../words.ts';

export const status: Words<typeof english> = {
  'status.title': 'Status des Markts',
  'status.good': 'Der Markt läuft: aus Annahmen wird sofort ein Swap.',
  'status.waits':
    'Annahmen warten. Alles andere geht weiter, und laufende Swaps sind nicht betroffen.',
  'status.waits.for': 'Der Markt liest zuerst nach, was er verpasst hat: {what}',
  'status.halted':
    'Auf {chains} wird nichts Neues vereinbart. Dort vereinbarte Swaps gehen weiter.',
  'status.quiet':
    'Auf {chains} ist kein neuer Block zu sehen. Vielleicht sieht ihn nur der Markt nicht; frag einen eigenen Node.',
  'status.halted.assets':
    'Mit {assets} wird nichts Neues vereinbart. Damit vereinbarte Swaps gehen weiter.',
  'status.behind.webhooks':
    'Webhooks sind {by} in Verzug. Was sie melden, steht sofort in der API.',
  'status.behind.feed': 'Der Feed der Maker ist {by} in Verzug. Das Buch zeigt, was da ist.',
  'status.behind.messages': 'Mails und Chat-Nachrichten sind {by} in Verzug.',
  'status.version': 'Version {version}, in Betrieb seit {started}.',
  'status.clock.behind':
    'Die Uhr dieses Geräts geht gegenüber dem Markt um {by} nach. Stell sie richtig, bevor du tauschst: Fristen gehen nach der Uhr.',
  'status.clock.ahead':
    'Die Uhr dieses Geräts geht gegenüber dem Markt um {by} vor. Stell sie richtig, bevor du tauschst: Fristen gehen nach der Uhr.',
  'status.chains': 'Chains',
  'status.chain': 'Chain',
  'status.state': 'Stand',
  'status.height': 'Neuester Block',
  'status.seen': 'Gesehen',
  'status.delay': 'Verzug',
  'status.on_time': 'keiner',
  'status.late': '{chain} ({by} in Verzug)',
  'status.usual': 'Übliche Zeit zwischen Blöcken',
  'status.never': 'noch nicht',
  'status.unknown': 'nicht bekannt',
  'status.is.good': 'läuft',
  'status.is.quiet': 'still',
  'status.is.halted': 'angehalten seit {since}',
  'status.is.unseen': 'noch nicht gesehen',
  'status.network.dev':
    'Das ist ein Entwicklungsnetz: seine Coins sind nichts wert, und seine Uhr lässt sich stellen.',
  'status.network.testnet': 'Das ist ein Testnetz: seine Coins sind nichts wert.',
  'status.more': 'Was ein Halt bedeutet und was ohne den Markt geht: siehe Hilfe.',
};
