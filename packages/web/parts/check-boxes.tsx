// Several of a list, each by a box.

import type { ReactNode } from 'react';

type CheckBoxesProps<Name extends string> = {
  readonly legend: string;
  readonly all: readonly Name[];
  readonly chosen: ReadonlySet<Name>;
  readonly onChange: (chosen: ReadonlySet<Name>) => void;
  readonly children: (name: Name) => ReactNode;
};

export function CheckBoxes<Name extends string>(props: CheckBoxesProps<Name>) {
  const { legend, all, chosen, onChange, children } = props;
  const toggle = (name: Name) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  return (
    <fieldset className="checks">
      <legend>{legend}</legend>
      {all.map((each) => (
        <label key={each}>
          <input type="checkbox" checked={chosen.has(each)} onChange={() => toggle(each)} />
          <span>{children(each)}</span>
        </label>
      ))}
    </fieldset>
  );
}
