// Texts of what a person is warned of while a swap goes on.

import type { warnings as english } from '../en/warnings.ts';
import type { Words } from '../words.ts';

export const warnings: Words<typeof english> = {
  'settlement.warn.other_tab': 'Ein anderer Tab führt deine Swaps',
  'settlement.warn.other_tab.why':
    'Dieser zeigt sie nur. Lass den anderen Tab offen oder übernimm hier.',
  'settlement.warn.other_tab.go': 'Hier übernehmen',
  'settlement.warn.other_tab.busy': 'Der andere Tab wartet auf eine Wallet. Antworte dort.',
  'settlement.warn.other_tab.silent':
    'Der andere Tab antwortet nicht. Schließ ihn, und dieser macht weiter.',
  'settlement.warn.node': 'Ein Node antwortet nicht',
  'settlement.warn.node.why':
    'Was diese Seite zeigt, kann alt sein. Was sie nicht lesen kann, sperrt sie nicht und holt sie nicht ab.',
  'settlement.warn.node.go': 'Andere Nodes wählen',
  'settlement.warn.chain_stands': 'Eine Chain steht still',
  'settlement.warn.chain_stands.why':
    'Ihr neuester Block ist zu alt, oder deine Uhr geht falsch. {held}',
  'settlement.warn.nodes_disagree': 'Deine Nodes sind sich nicht einig',
  'settlement.warn.nodes_disagree.why': 'Einer von ihnen irrt. {held}',
  'settlement.warn.answer_refused': 'Ein Node bestreitet, was endgültig war',
  'settlement.warn.answer_refused.why': 'Er belegt es nicht, und ihm wird nicht geglaubt. {held}',
  'settlement.warn.held.lock':
    'Solange das so ist, wird nichts gesperrt. Du verlierst nichts, wenn du wartest.',
  'settlement.warn.held.reveal':
    'Das Abholen wartet so lange, weil es dein Geheimnis zeigt. Was fällig ist, wird trotzdem zurückgeholt.',
  'settlement.warn.held.end':
    'Darauf wartet nur das Ende des Swaps. Mit einem bekannten Geheimnis wird weiter abgeholt, und was fällig ist, wird zurückgeholt.',
  'settlement.warn.node_ahead': 'Ein Node nennt eine Zeit, die noch kommt',
  'settlement.warn.node_ahead.why':
    'Seine Zeit zählt nicht, oder deine Uhr geht nach. Auf sein Wort allein wird nichts gesperrt oder beendet.',
  'settlement.warn.node_silent': 'Ein Node antwortet nicht',
  'settlement.warn.node_silent.why':
    'Diese Seite fragt ihn wieder. Was noch nicht begonnen hat, wartet bis zu zehn Minuten auf ihn. Danach genügen die anderen Nodes.',
  'settlement.warn.node_behind': 'Ein Node hinkt hinterher',
  'settlement.warn.node_behind.why': 'Diese Seite geht nach den anderen und fragt ihn wieder.',
  'settlement.warn.market': 'Der Markt antwortet nicht',
  'settlement.warn.market.why':
    'Was gesperrt ist, wird ohne ihn abgeholt oder zurückgeholt. Neues wird nicht gesperrt.',
  'settlement.warn.market_lied': 'Der Markt sagt etwas anderes, als du vereinbart hast',
  'settlement.warn.market_lied.why':
    'Diese Seite geht nach deinen Bedingungen und den Chains und glaubt ihm nicht.',
  'settlement.warn.clock': 'Deine Uhr geht um {off} falsch',
  'settlement.warn.clock.why': 'Fristen rechnen mit ihr. Stell sie richtig, bevor du zahlst.',
  'settlement.warn.store': 'Dieser Browser kann den Swap nicht sicher aufbewahren',
  'settlement.warn.store.why':
    'Lass diese Seite offen, bis der Swap zu Ende ist, und speichere die Rettungsdatei.',
  'settlement.warn.private': 'Das ist ein privates Fenster',
  'settlement.warn.private.why':
    'Alles darin ist weg, wenn du es schließt. Speichere die Rettungsdatei und halte deine Phrase bereit.',
  'settlement.warn.unpromised': 'Dieser Browser darf löschen, was er aufbewahrt',
  'settlement.warn.unpromised.why':
    'Wenn der Speicher voll ist, verspricht er nichts. Speichere die Rettungsdatei.',
  'settlement.warn.settle': 'Der Swap wartet',
  'settlement.warn.settle.why': 'Inzwischen wird nichts signiert.',
  'settlement.warn.terms': 'Die Bedingungen passen nicht zu dem, was du vereinbart hast',
  'settlement.warn.terms.why': 'Von dir wird nichts bezahlt. Zahle auch nicht von Hand.',
  'settlement.warn.phrase': 'Deine Rettungsphrase ist nicht geprüft',
  'settlement.warn.phrase.why':
    'Verliert dieser Browser seine Daten, kann niemand den Swap zurückbringen.',
  'settlement.warn.phrase.go': 'Aufschreiben und prüfen',
  'settlement.warn.rescue': 'Die neueste Rettungsdatei ist nicht gespeichert',
  'settlement.warn.rescue.why':
    'Mit der Phrase bringt sie diesen Swap zurück, auch ohne den Markt.',
  'settlement.warn.near': 'Die Zeit zum Zahlen endet bald',
  'settlement.warn.near.why':
    'Sie endet um {fundBy}. Bist du nicht sicher, es zu schaffen, zahle nicht: nichts ist verloren.',
  'settlement.warn.wrong_network': 'Deine Wallet ist in einem anderen Netz',
  'settlement.warn.wrong_network.why': 'Stell sie auf {chain} um. Vorher wird nichts signiert.',
};
