// The combo box of an asset. asset-field.tsx loads it when it is first shown: with what it brings
// it is as large as the rest of a first screen.

import type { Asset } from '@parley/sdk/types.ts';
import {
  Button,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components/ComboBox';
import { assetName, chainName, shortAddress } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';

export type AssetFieldProps = {
  label: string;
  assets: readonly Asset[];
  /** An id; null: not chosen. */
  value: string | null;
  onChange: (id: string | null) => void;
};

export function AssetCombo({ label, assets, value, onChange }: AssetFieldProps) {
  return (
    <ComboBox
      className="field"
      value={value}
      onChange={(key) => onChange(key === null ? null : String(key))}
      defaultItems={assets}
      menuTrigger="focus"
      allowsEmptyCollection
    >
      <Label>{label}</Label>
      <div className="combo">
        <Input placeholder={text('asset.search')} />
        <Button className="button quiet" aria-label={text('asset.open')}>
          <span aria-hidden="true">▾</span>
        </Button>
      </div>
      <Popover className="popover">
        <ListBox<Asset> renderEmptyState={() => <p className="hint">{text('asset.none')}</p>}>
          {(asset) => (
            <ListBoxItem id={asset.id} textValue={searched(asset)} className="option">
              <Text slot="label">{asset.symbol}</Text>
              <Text slot="description" className="hint">
                {chainName(asset.chain)}
                {asset.address !== null && ` · ${shortAddress(asset.address)}`}
              </Text>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** The field shows this once chosen, and finds by it. */
function searched(asset: Asset): string {
  return assetName(asset);
}
