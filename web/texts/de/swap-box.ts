// Texts of the swap box.

import type { swapBox as english } from '../en/swap-box.ts';
import type { Words } from '../words.ts';

export const swapBox: Words<typeof english> = {
  'swap_box.title': 'Zwischen Chains tauschen',
  'swap_box.lead':
    'Sag, was du gibst und was du willst. Maker nennen dir ihren Preis. Deine Coins bleiben bei dir, bis ein Swap vereinbart ist; dann hält sie der Swap, nie dieser Markt.',
  'swap_box.give': 'Du gibst',
  'swap_box.get': 'Du bekommst',
  'swap_box.amount': 'Betrag',
  'swap_box.amount_of': 'Betrag ({symbol})',
  'swap_box.either': 'Gib diesen Betrag ein oder den anderen.',
  'swap_box.give_exact': 'Genau so viel.',
  'swap_box.get_exact': 'Genau so viel.',
  'swap_box.give_open': 'Freiwillig: was du bietest. Maker sehen es und können mehr verlangen.',
  'swap_box.get_open': 'Freiwillig: was du verlangst. Maker sehen es und können weniger bieten.',
  'swap_box.asset': 'Coin',
  'swap_box.flip': 'Seiten vertauschen',
  'swap_box.choose_give': 'Wähle, was du gibst',
  'swap_box.choose_get': 'Wähle, was du bekommen willst',
  'swap_box.same_chain': 'Beide sind auf {chain}: ein Swap geht zwischen zwei Chains',
  'swap_box.closed': '{symbol} nimmt gerade keine Swaps an',
  'swap_box.type_amount': 'Gib ein, wie viel du gibst oder bekommen willst',
  'swap_box.zero': 'Der Betrag muss größer als null sein',
  'swap_box.type_address': 'Gib die Adresse ein, die anbieten darf',
  'swap_box.long_address': 'Die Adresse hat {length} Zeichen, erlaubt sind {most}',
  'swap_box.recent': 'Zuletzt: etwa {quote} für {base}',
  'swap_box.recent.from': 'Median von {count} Swaps in {window}; der jüngste: {age}.',
  'swap_box.recent.none': 'Zum Vergleich gibt es keine jüngeren Swaps dieses Paars.',
  'swap_box.recent.use': 'So viel verlangen',
  'swap_box.level': 'Ein Maker stellt etwa {quote} für {base} in Aussicht',
  'swap_box.level.known': 'Keine Zusage. Swaps, die er zuletzt abgeschlossen hat: {count}. {age}.',
  'swap_box.level.new':
    'Keine Zusage, und noch hat kein Maker, der das nennt, Swaps abgeschlossen. {age}.',
  'swap_box.ask_better':
    'Du verlangst {percent} mehr, als Swaps zuletzt brachten. Vielleicht bietet kein Maker.',
  'swap_box.ask_worse': 'Du verlangst {percent} weniger, als Swaps zuletzt brachten.',
  'swap_box.options': 'Anbieten darf: {who}, {long} lang',
  'swap_box.ttl': 'Offen für',
  'swap_box.ttl.600': '10 Minuten',
  'swap_box.ttl.3600': '1 Stunde',
  'swap_box.ttl.21600': '6 Stunden',
  'swap_box.ttl.86400': '1 Tag',
  'swap_box.ttl.604800': '7 Tage',
  'swap_box.audience': 'Wer anbieten darf',
  'swap_box.audience.public': 'Jeder Maker',
  'swap_box.audience.link': 'Wer den Link hat',
  'swap_box.audience.address': 'Nur wem eine Adresse gehört',
  'swap_box.audience.public.hint':
    'Deine Anfrage steht öffentlich im Markt. Angebote sind verdeckt: jeder Maker sieht nur seines.',
  'swap_box.audience.link.hint':
    'Sie steht nicht im Markt. Du bekommst einen Link und einen QR-Code zum Weitergeben.',
  'swap_box.audience.address.hint':
    'Sie steht nicht im Markt. Nur das Konto mit dieser Wallet darf anbieten und erfährt es sofort, wenn es zuhört.',
  'swap_box.settled': 'Bisherige Swaps des Anbieters',
  'swap_box.settled.any': 'Jedes Konto',
  'swap_box.settled.least': 'Mindestens {count} erledigt',
  'swap_box.settled.hint':
    'Es zählen erledigte Swaps der letzten 29 Tage, je Gegenseite einer am Tag. Weniger Maker dürfen anbieten, und weniger springen ab.',
  'swap_box.address': 'Adresse, die anbieten darf',
  'swap_box.costs': 'Was es kostet',
  'swap_box.costs.none': 'Wähle beide Coins, um die Kosten zu sehen.',
  'swap_box.costs.market': 'Gebühr dieses Markts',
  'swap_box.costs.market.none': 'keine',
  'swap_box.costs.fund': 'Sperren, was du gibst, auf {chain}',
  'swap_box.costs.claim': 'Abholen, was du bekommst, auf {chain}',
  'swap_box.costs.refund': 'Nur wenn es scheitert: zurückholen, auf {chain}',
  'swap_box.costs.deposit': 'Pfand auf {chain}, kommt zurück',
  'swap_box.costs.from_amount': ' vom Betrag abgezogen',
  'swap_box.costs.unknown': '{chain} nennt gerade keine Gebühren.',
  'swap_box.costs.about': 'etwa {amount}',
  'swap_box.costs.need': 'Hab {amount} auf {chain} für Gebühren, bevor du annimmst.',
  'swap_box.costs.need_or_sent':
    'Hab {amount} auf {chain} für Gebühren. Mit weniger holt der Markt kostenlos für dich ab, in seinen Grenzen.',
  'swap_box.costs.no_need': 'Auf {chain} brauchst du keine weiteren Coins.',
  'swap_box.time.usual': 'Üblich, sobald vereinbart',
  'swap_box.time.worst': 'Schlimmstenfalls ist {symbol} gesperrt für',
  'swap_box.time.worst.least': '{time}, und bis deine Rückzahlung in einem Block ist',
  'swap_box.time.worst.why':
    'So ist es, wenn die andere Seite aufhört, nachdem du gesperrt hast. Dann holst du alles zurück; verloren sind nur Netzwerkgebühren.',
  'swap_box.unverified':
    '{symbol} wurde durch automatische Prüfungen gelistet, nicht von Hand. Jeder kann ein Symbol kopieren: vergleiche den Contract.',
  'swap_box.contract': 'Contract von {symbol} auf {chain}',
  'swap_box.action': 'Angebote einholen',
  'swap_box.action.signed_out': 'Anmelden und Angebote einholen',
  'swap_box.action.why':
    'Das verpflichtet dich zu nichts. Du wählst unter den Angeboten, oder keines.',
  'swap_box.no_key': 'Zuerst der Schritt oben',
  'swap_box.no_wallet': 'Verbinde zuerst eine Wallet auf {chain}',
  'swap_box.no_wallet.why':
    'Wer Angebote einholt, zeigt mit einer Unterschrift, dass er auf der Chain, auf der er zahlt, eine Wallet hat. Nichts wird bewegt.',
  'swap_box.no_wallet.action': 'Wallets dieses Kontos',
  'swap_box.failed': 'Die Anfrage wurde nicht veröffentlicht',
};
