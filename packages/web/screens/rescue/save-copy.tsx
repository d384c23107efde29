// The rescue page as one file, kept by a person for a time without the market.

import type { Engine } from '../../engine/types.ts';
import { config } from '../../market/config.ts';
import { SaveRescue } from '../../parts/save-rescue.tsx';
import { text } from '../../texts/texts.ts';

export function SaveCopy({ engine }: { readonly engine: Engine }) {
  return (
    <section className="panel" aria-labelledby="rescue-save">
      <h2 id="rescue-save">{text('rescue.save.title')}</h2>
      <p>{text('rescue.save.why')}</p>
      <div className="actions">
        <a className="button" href="/app/rescue.html" download={`${config.shortName}-rescue.html`}>
          {text('rescue.save')}
        </a>
        <SaveRescue save={engine.rescue.save} />
      </div>
    </section>
  );
}
