// Texts of a deal: terms, prices of both sides, and the acceptance.

import type { deal as english } from '../en/deal.ts';
import type { Words } from '../words.ts';

export const deal: Words<typeof english> = {
  'deal.title': '{give} für {get}',
  'deal.one': 'Verhandlung',
  'deal.back': 'Alle Angebote dieser Anfrage',
  'deal.back.maker': 'Die Anfrage',
  'deal.you_give': 'Du gibst',
  'deal.you_get': 'Du bekommst',
  'deal.on': 'auf {chain}',
  'deal.contract': 'Contract',
  'deal.native': 'Der eigene Coin der Chain',
  'deal.unverified':
    'Durch automatische Prüfungen gelistet. Vergleiche den Contract, bevor du annimmst.',
  'deal.locked': 'Schlimmstenfalls gesperrt bis',
  'deal.their_locked': 'Ihre Seite schlimmstenfalls gesperrt bis',
  'deal.if_now': 'wenn beide jetzt annehmen',
  'deal.role.initiator':
    'Du sperrst zuerst. Dein Browser hat das Geheimnis, das beide Seiten öffnet.',
  'deal.role.counterparty':
    'Sie sperren zuerst. Du sperrst erst, wenn ihre Seite sicher gesperrt ist.',
  'deal.recent.better': '{percent} besser als Swaps zuletzt ({amount}).',
  'deal.recent.worse': '{percent} schlechter als Swaps zuletzt ({amount}).',
  'deal.recent.even': 'Genau wie Swaps zuletzt.',
  'deal.ask.better': '{percent} besser, als du verlangt hast ({amount}).',
  'deal.ask.worse': '{percent} schlechter, als du verlangt hast ({amount}).',
  'deal.ask.even': 'Was du verlangt hast.',
  'deal.reference.none': 'Zum Vergleich gibt es keine jüngeren Swaps dieses Paars.',
  'deal.maker': 'Der Maker',
  'deal.taker': 'Die andere Seite',
  'deal.moves': 'Preise bisher',
  'deal.move.you': 'Du: {amount}',
  'deal.move.them': 'Sie: {amount}',
  'deal.counter': 'Anderen Preis nennen',
  'deal.counter.get': 'Du würdest bekommen',
  'deal.counter.give': 'Du würdest geben',
  'deal.counter.hint':
    'Sie können ihn annehmen oder einen anderen nennen. Er bindet niemanden, bis beide annehmen.',
  'deal.counter.action': 'Preis senden',
  'deal.counter.same': 'Das ist der Preis von jetzt',
  'deal.counter.zero': 'Der Betrag muss größer als null sein',
  'deal.counter.failed': 'Der Preis wurde nicht gesendet',
  'deal.counter.bound': 'Du hast angenommen: bis {until} können nur sie den Preis ändern.',
  'deal.moved':
    'Die Bedingungen haben sich geändert. Der Preis ist jetzt {amount}: sieh noch einmal hin, bevor du annimmst.',
  'deal.state.their_price':
    'Sie bieten diesen Preis. Du bist dran: nimm an oder nenne einen anderen.',
  'deal.state.my_price':
    'Du hast diesen Preis genannt. Sie können annehmen oder einen anderen nennen.',
  'deal.state.my_price.accept':
    'Du kannst ihn im Voraus annehmen: nehmen sie dann an, gilt der Swap.',
  'deal.state.waits_for_them': 'Du hast angenommen. Sie haben Zeit bis {until}.',
  'deal.state.waits_for_them.why':
    'Nehmen sie an, beginnt der Swap, und diese Seite geht zu ihm weiter. Sonst endet deine Annahme von selbst, und nichts war gesperrt.',
  'deal.state.waits_for_me': 'Sie haben angenommen. Du hast Zeit bis {until}.',
  'deal.state.waits_for_me.why':
    'Nimmst du an, beginnt der Swap sofort. Sonst endet ihre Annahme von selbst.',
  'deal.state.closed':
    'Diese Verhandlung ist zu Ende. Nichts war gesperrt und nichts ist verloren.',
  'deal.state.price_over': 'Dieser Preis gilt nicht mehr. Niemand kann ihn annehmen.',
  'deal.state.price_over.why': 'Warte auf einen neuen Preis oder nenne einen.',
  'deal.holds': 'Der Preis gilt noch',
  'deal.state.withdrawn': 'Der Maker hat seinen Preis zurückgezogen. Ein neuer erscheint hier.',
  'deal.withdraw': 'Angebot zurückziehen',
  'deal.withdraw.of': 'Angebot zurückziehen: du gibst {gives}, du bekommst {gets}',
  'deal.withdraw.done':
    'Zurückgezogen. Niemand kann es annehmen, bis du für diese Anfrage wieder eines abgibst.',
  'deal.withdraw.failed': 'Das Angebot wurde nicht zurückgezogen',
  'deal.state.agreed': 'Vereinbart. Der Swap geht von selbst weiter.',
  'deal.unlisted':
    'Der Markt listet einen Coin dieser Verhandlung nicht mehr. Nichts kann vereinbart werden.',
  'deal.no_party': 'Diese Verhandlung führen andere',
  'deal.addresses': 'Deine Adressen',
  'deal.address.paid': 'Auf {chain} bekommst du an',
  'deal.address.refund': 'Eine Rückzahlung auf {chain} geht an',
  'deal.address.funder': 'Auf {chain} zahlst du von',
  'deal.address.bitcoin.hint': 'Irgendeine Bitcoin-Adresse von dir, auch bei einer Börse.',
  'deal.address.dev': 'Eine Adresse dieses Testnetzes nehmen',
  'deal.address.funder.hint':
    'Nur diese Wallet kann sperren, und eine Rückzahlung geht an sie zurück.',
  'deal.address.paid.hint': 'Eine Wallet, an die dieses Konto ausgezahlt werden darf.',
  'deal.address.none': 'Dieses Konto hat auf {chain} keine Wallet dafür.',
  'deal.address.none.action': 'Wallets dieses Kontos',
  'deal.address.missing': 'Nenne zuerst deine Adresse auf {chain}',
  'deal.unknown_chain':
    'Diese App kennt eine der Chains nicht und kann diesen Swap deshalb nicht prüfen.',
  'deal.accept.lost.initiator':
    'Bleibt es stehen, sind Netzwerkgebühren verloren, und du holst deine Coins zurück. Lass diese Seite für deine Schritte offen oder komm rechtzeitig wieder.',
  'deal.accept.lost.counterparty':
    'Bleibt es stehen, sind Netzwerkgebühren verloren, und du holst deine Coins zurück. Hol nach Schritt 3 rechtzeitig ab: später könnten sie beides nehmen.',
  'deal.accept': 'Prüfen und annehmen',
  'deal.accept.title': 'Annehmen? Das ist nicht umkehrbar',
  'deal.accept.commits':
    'Du verpflichtest dich, {give} auf {chain} zu geben, für {get} auf {other}.',
  'deal.accept.makes': 'Sie haben angenommen: nimmst du an, gilt der Swap sofort.',
  'deal.accept.waits': 'Nehmen sie auch an, beginnt der Swap sofort.',
  'deal.accept.first':
    'Du sperrst zuerst. Tust du es dann nicht, ist nichts verloren, aber es steht in deiner Bilanz.',
  'deal.accept.second':
    'Sie sperren zuerst, du danach. Tust du es dann nicht, ist für dich nichts verloren, aber es steht in deiner Bilanz.',
  'deal.accept.bound':
    'Bis {until} können nur sie den Preis ändern. Nehmen sie nie an, endet deine Annahme dann.',
  'deal.accept.then': 'Was dann geschieht',
  'deal.accept.then.if': 'Zeiten, als ob beide jetzt annehmen.',
  'deal.step.you_fund_first': 'Du sperrst {give} vor',
  'deal.step.they_fund_second': 'Sie sperren {get} vor',
  'deal.step.you_reveal': 'Dein Browser holt {get} ab vor',
  'deal.step.they_fund_first': 'Sie sperren {get} vor',
  'deal.step.you_fund_second': 'Du sperrst {give} vor',
  'deal.step.they_reveal': 'Sie holen {give} ab und zeigen damit das Geheimnis, vor',
  'deal.step.you_claim': 'Dein Browser holt {get} ab vor',
  'deal.step.refund': 'Bleibt es unterwegs stehen, kannst du {give} zurückholen ab',
  'deal.checks': 'Was dein Browser geprüft hat',
  'deal.checks.running': 'Dein Browser prüft die Bedingungen…',
  'deal.checks.ok': 'bestanden',
  'deal.checks.bad': 'nicht bestanden',
  'deal.checks.failed': 'Die Prüfungen waren nicht möglich',
  'deal.check.terms': 'Die Bedingungen sind die, die du siehst',
  'deal.check.rules': 'Die Regeln des Markts sind die dieser App',
  'deal.check.timelocks': 'Die Zeitsperren sind die, die deine eigenen Regeln ergeben',
  'deal.check.phrase': 'Deine Rettungsphrase ist geprüft',
  'deal.check.store': 'Dieser Browser bewahrt, was der Swap braucht',
  'deal.check.room': 'Dieser Browser hat Platz für einen Swap mehr',
  'deal.check.clock': 'Deine Uhr geht richtig',
  'deal.check.nodes': 'Nodes beider Chains antworten',
  'deal.check.addresses': 'Deine Adressen gehören zu diesen Chains',
  'deal.check.agreed': 'Der Swap ist, was vereinbart wurde',
  'deal.check.escrows': 'Die Escrows sind die dieser Bedingungen',
  'deal.checks.refused': 'Nicht angenommen: eine Prüfung ist nicht bestanden',
  'deal.confirm.worse':
    'Ich bekomme {percent} weniger, als Swaps zuletzt brachten: {amount} statt etwa {expected}.',
  'deal.confirm.dearer':
    'Ich zahle {percent} mehr, als Swaps zuletzt kosteten: {amount} statt etwa {expected}.',
  'deal.confirm.better':
    'Der Preis ist {percent} besser für mich als Swaps zuletzt: {amount} statt etwa {expected}. Ich habe beide Contracts und Beträge verglichen.',
  'deal.confirm.ask_worse':
    'Ich bekomme {percent} weniger, als ich verlangt habe: {amount} statt {expected}.',
  'deal.confirm.ask_dearer':
    'Ich zahle {percent} mehr, als ich geboten habe: {amount} statt {expected}.',
  'deal.confirm.ask_better':
    'Der Preis ist {percent} besser, als ich verlangt habe: {amount} statt {expected}. Ich habe beide Contracts und Beträge verglichen.',
  'deal.confirm.unverified':
    'Ich weiß, dass der Contract von {symbol} der richtige ist: {contract}',
  'deal.confirm.paid': 'Was ich auf {chain} bekomme, geht an {address}, und die gehört mir.',
  'deal.confirm.refund': 'Eine Rückzahlung auf {chain} geht an {address}, und die gehört mir.',
  'deal.confirm.unknown':
    'Dieser Markt zeigt nichts, womit der Preis zu vergleichen wäre. Ich habe ihn anderswo verglichen.',
  'deal.confirm.first': 'Hake zuerst jeden Satz ab',
  'deal.accept.no': 'Nicht jetzt',
  'deal.accept.yes': 'Verbindlich annehmen',
  'deal.accepting': 'Nimmt an…',
  'deal.accept.failed': 'Nicht angenommen',
  'deal.accept.unsure':
    'Der Markt hat nicht geantwortet. Deine Annahme kann angekommen sein: diese Seite zeigt es dann sofort. Noch einmal anzunehmen ist sicher.',
  'deal.accept.wait_checks': 'Die Prüfungen sind noch nicht fertig',
};
