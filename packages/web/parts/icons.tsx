// Icons of lucide that screens use, each beside words that say it.

import {
  Activity,
  ArrowDownUp,
  ArrowRight,
  Bell,
  Check,
  ChevronDown,
  CircleHelp,
  Clock3,
  Code2,
  Copy,
  Download,
  ExternalLink,
  Gauge,
  KeyRound,
  LifeBuoy,
  LogOut,
  type LucideIcon,
  PenLine,
  Settings,
  ShieldCheck,
  Store,
  TriangleAlert,
  UserRound,
  Wallet,
  X,
} from 'lucide-react';

const all = {
  account: UserRound,
  activity: Activity,
  arrow: ArrowRight,
  bell: Bell,
  check: Check,
  clock: Clock3,
  code: Code2,
  copy: Copy,
  cross: X,
  down: ChevronDown,
  file: Download,
  flip: ArrowDownUp,
  gauge: Gauge,
  help: CircleHelp,
  key: KeyRound,
  makers: Store,
  out: ExternalLink,
  pen: PenLine,
  rescue: LifeBuoy,
  settings: Settings,
  shield: ShieldCheck,
  signOut: LogOut,
  wallet: Wallet,
  warn: TriangleAlert,
} satisfies Record<string, LucideIcon>;

export type IconName = keyof typeof all;

export function Icon({ name }: { name: IconName }) {
  const Drawn = all[name];
  return <Drawn className="icon" aria-hidden="true" />;
}
