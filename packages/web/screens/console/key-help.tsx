// The console's keys: where they lead, their list, and the switch for a person whom they disturb.

import { useEffect, useEffectEvent } from 'react';
import { Dialog } from '../../parts/controls.tsx';
import { text } from '../../texts/texts.ts';
import { type Command, commandOf, commands, type Press } from './keyboard.ts';

/** `isOn`: single letters are keys, which a program for speech could press by accident. */
export function useKeys(isOn: boolean, act: (command: Command) => void): void {
  const heard = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, altKey, metaKey, defaultPrevented } = event;
    const isOther = ctrlKey || altKey || metaKey || defaultPrevented;
    const command = commandOf({ key, isOther, on: placeOf(event.target) });
    if (command === null || !(isOn || command === 'help')) return;
    event.preventDefault();
    act(command);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => heard(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

function placeOf(target: EventTarget | null): Press['on'] {
  if (document.querySelector('dialog[open], :popover-open') !== null) return 'dialog';
  if (!(target instanceof Element)) return 'page';
  if (target.closest('input, textarea, select, [contenteditable]') !== null) return 'field';
  if (target.closest('.order') !== null) return 'row';
  return target.closest('button, a, summary') === null ? 'page' : 'control';
}

const shownKeys: Readonly<Record<Command, readonly string[]>> = {
  down: ['j', '↓'],
  up: ['k', '↑'],
  quote: ['Enter'],
  edit: ['e'],
  withdraw: ['w'],
  filter: ['/'],
  help: ['?'],
};

type KeyHelpProps = {
  isOpen: boolean;
  onClose: () => void;
  isOn: boolean;
  onSwitch: (isOn: boolean) => void;
};

export function KeyHelp({ isOpen, onClose, isOn, onSwitch }: KeyHelpProps) {
  return (
    <Dialog title={text('console.keys')} open={isOpen} onClose={onClose} no={text('share.done')}>
      <dl className="desk-keys">
        {commands.map((each) => (
          <div key={each}>
            <dt>
              {shownKeys[each].map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text(`console.keys.${each}`)}</dd>
          </div>
        ))}
      </dl>
      <p className="hint">{text('console.keys.price')}</p>
      <label className="desk-switch">
        <input type="checkbox" checked={isOn} onChange={({ target }) => onSwitch(target.checked)} />
        <span>{text('console.keys.on')}</span>
      </label>
    </Dialog>
  );
}
