// The rescue file, saved by a person.

import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Fault } from './fault.tsx';
import { fileName, saveFile } from './save-file.ts';
import { useAct } from './ways/act.ts';

type SaveRescueProps = {
  readonly save: () => Promise<string>;
};

export function SaveRescue({ save }: SaveRescueProps) {
  const { error, run } = useAct();
  const go = () =>
    run(async () => void saveFile(fileName('rescue', 'json'), 'application/json', await save()));
  return (
    <>
      <Button onPress={go}>{text('settlement.rescue.save')}</Button>
      <Fault error={error} />
    </>
  );
}
