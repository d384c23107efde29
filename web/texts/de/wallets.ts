// Texts of wallets, and of where the account is paid.

import type { wallets as english } from '../en/wallets.ts';
import type { Words } from '../words.ts';

export const wallets: Words<typeof english> = {
  'wallets.title': 'Wallets und Auszahlung',
  'wallets.what':
    'Swaps zahlen an die Wallet jeder Familie, die hier steht, wenn du einem Swap nichts anderes sagst. Vereinbarte Swaps behalten ihre Adressen.',
  'wallets.address': 'Adresse',
  'wallets.paid': 'hierher wird ausgezahlt',
  'wallets.paid.nowhere':
    'Noch wird nirgends ausgezahlt. Nenne eine Wallet, bevor du auf diesen Chains handelst.',
  'wallets.login': 'meldet an',
  'wallets.paid.each_swap':
    'Jeder Swap fragt dich nach einer Bitcoin-Adresse. Hier darf der Schlüssel deiner Rettungsphrase stehen: er ist für Escrows, sende also nichts an ihn.',
  'wallets.receives': 'darf von einem Swap genannt werden',
  'wallets.proven': 'nachgewiesen: sie darf handeln und wird nirgends ausgezahlt',
  'wallets.waits.paid': 'wird ausgezahlt ab',
  'wallets.waits.named': 'darf genannt werden ab',
  'wallets.leaves': 'wird entfernt am',
  'wallets.wait.title': 'Eine Änderung deiner Auszahlung wartet',
  'wallets.wait.what':
    'Sie wartet, damit niemand, der in dein Konto kam, statt dir ausgezahlt wird. Auf jeden deiner Kanäle ging eine Nachricht. Wenn sie nicht von dir ist: stoppe sie, beende alle anderen Sitzungen, entferne Logins, die du nicht kennst.',
  'wallets.stop': 'Stoppen',
  'wallets.stop.label': 'Stoppen, was für {address} wartet',
  'wallets.stop.title': 'Stoppen, was für {address} wartet?',
  'wallets.stop.what':
    'Es wird ausgezahlt wie zuvor. Eine Login-Wallet, die wartete, wird auch aus deinen Logins entfernt. Jede andere Sitzung dieses Kontos endet, mit den API-Schlüsseln, die sie gemacht hat.',
  'wallets.stop.all': 'Alles stoppen, was wartet',
  'wallets.stop.all.title': 'Alles stoppen, was wartet?',
  'wallets.stopped': 'Gestoppt. Es wird ausgezahlt wie zuvor.',
  'wallets.remove': 'Entfernen',
  'wallets.remove.label': 'Entfernen: den Nachweis von {address}',
  'wallets.remove.title': 'Den Nachweis von {address} entfernen?',
  'wallets.remove.what':
    'Das Konto kann nicht mehr mit ihr handeln. Ihre Coins sind, wo sie waren.',
  'wallets.change.title': 'Eine Wallet nennen',
  'wallets.change.which': 'Wofür sie ist',
  'wallets.change.paid': 'Ab jetzt dorthin auszahlen',
  'wallets.change.named': 'Ein Swap darf sie nennen',
  'wallets.change.how':
    'Die neue Wallet signiert, und auch eine, die du hast: die jetzt ausgezahlt wird, sonst die, mit der du dich anmeldest. Ohne diese zweite Unterschrift wartet es, meist 72 Stunden.',
  'wallets.change.session':
    'Nur eine Anmeldung mit einer Wallet dieses Kontos ändert die Auszahlung. Du bist angemeldet {way}.',
  'wallets.change.session.go': 'Mit Wallet anmelden',
  'wallets.change.no_wallet':
    'Füge zuerst eine Wallet als Login hinzu: dann wird dorthin ausgezahlt.',
  'wallets.change.no_wallet.go': 'Login hinzufügen',
  'wallets.second.title': 'Eine zweite Unterschrift',
  'wallets.second.what':
    'Signiert auch {address}, gilt es sofort. Sonst wartet es {wait}, mit einer Nachricht auf jedem Kanal.',
  'wallets.second.wait': 'Stattdessen warten',
  'wallets.second.back': 'Nichts ändern',
  'wallets.done.now': 'Es gilt ab jetzt.',
  'wallets.done.waits':
    'Es wartet. Bis dahin wird ausgezahlt wie zuvor, und du kannst es hier stoppen.',
  'wallets.failed': 'Nichts hat sich geändert. Beide Texte gelten einmal: beginne neu.',
  'wallets.prove.title': 'Eine Wallet zum Handeln nachweisen',
  'wallets.prove.what':
    'Eine Anfrage, die einen Coin gibt, braucht eine nachgewiesene Wallet seiner Familie. Mit einem Nachweis darf das Konto mit ihr handeln; ausgezahlt wird ihr nichts.',
  'wallets.proved': 'Die Wallet ist nachgewiesen.',
};
