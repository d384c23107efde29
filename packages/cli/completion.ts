// The scripts by which a shell completes commands, options, and the values there are. Written from
// the table of commands, so that it never says what the program does not take.

import { type Argument, type Command, commands, globals } from './table.ts';

export const shells = { bash, zsh, fish } as const;

const firstWords = () => [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
const optionsOf = ({ options }: Pick<Command, 'options'>) => ({ ...options, ...globals });

/** The words that may come at each place after a command's name. */
function placesOf({ name, args }: Command) {
  const words = name.split(' ').length;
  return args.map((argument, at) => ({ argument, at: at + words }));
}

const valuesAt = ({ choices, isFile }: Argument) => (isFile ? null : (choices ?? []));

/** Words that may follow, by the words so far: second words of a command, and choices. */
function followers(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (key: string, words: readonly string[]) => {
    found.set(key, [...new Set([...(found.get(key) ?? []), ...words])]);
  };
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    if (second !== undefined) add(first, [second]);
    for (const { argument, at } of placesOf(command)) {
      const values = valuesAt(argument) ?? [];
      if (values.length > 0 && at === command.name.split(' ').length) add(command.name, values);
    }
  }
  return found;
}

/** Values of options, whichever command they are of. */
function optionValues(): readonly (readonly [name: string, values: readonly string[]])[] {
  const all = commands.flatMap((each) => Object.entries(optionsOf(each)));
  return [
    ...new Map(
      all.flatMap(([name, { choices }]) => (choices === undefined ? [] : [[name, choices]])),
    ),
  ] as [string, readonly string[]][];
}

function bash(): string {
  const after = [...followers()].map(
    ([key, words]) => `    '${key}') words='${words.join(' ')}' ;;`,
  );
  const options = commands.map((each) => {
    const names = Object.keys(optionsOf(each)).map((name) => `--${name}`);
    return `      '${each.name}'*) words='${names.join(' ')}' ;;`;
  });
  const values = optionValues().map(
    ([name, choices]) => `    --${name}) words='${choices.join(' ')}' ;;`,
  );
  const takes = valueOptions().map((name) => `--${name}`);
  return `# bash completion of parley: written by "parley completion bash".
_parley() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words='' said=''
  local at skip=0
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${takes.join('|')}) skip=1 ;;
      -*) ;;
      *) if ((skip)); then skip=0; else said="\${said:+$said }\${COMP_WORDS[at]}"; fi ;;
    esac
  done
  case $previous in
${values.join('\n')}
    ${takes.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [[ -z $words && $current == -* ]]; then
    case $said in
${options.join('\n')}
      *) words='${Object.keys(globals)
        .map((name) => `--${name}`)
        .join(' ')}' ;;
    esac
  elif [[ -z $words ]]; then
    case $said in
    '') words='${firstWords().join(' ')}' ;;
${after.join('\n')}
    *) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _parley parley
`;
}

function valueOptions(): string[] {
  const all = commands.flatMap((each) => Object.entries(optionsOf(each)));
  return [...new Set(all.flatMap(([name, { value }]) => (value === undefined ? [] : [name])))];
}

/** For zsh: in single quotes, where a colon parts a word from what is said of it. */
const quoted = (text: string) => text.replaceAll("'", "'\\''").replaceAll(':', '\\:');

function zsh(): string {
  const described = (names: readonly string[]) =>
    names.map((name) => {
      const own = commands.find((each) => each.name === name);
      const inside = commands.filter((each) => each.name.startsWith(`${name} `)).length;
      return `    '${quoted(name)}:${quoted(own?.about ?? `${inside} commands`)}'`;
    });
  const after = [...followers()].map(
    ([key, words]) => `    '${key}') compadd ${words.join(' ')} ;;`,
  );
  const options = commands.map((each) => {
    const names = Object.keys(optionsOf(each)).map((name) => `--${name}`);
    return `      '${each.name}'*) compadd -- ${names.join(' ')} ;;`;
  });
  const values = optionValues().map(
    ([name, choices]) => `    --${name}) compadd ${choices.join(' ')}; return ;;`,
  );
  const takes = valueOptions().map((name) => `--${name}`);
  return `#compdef parley
# zsh completion of parley: written by "parley completion zsh".
_parley() {
  local said='' skip=0 at
  local -a all=(
${described(firstWords()).join('\n')}
  )
  for ((at = 2; at < CURRENT; at++)); do
    case \${words[at]} in
      ${takes.join('|')}) skip=1 ;;
      -*) ;;
      *) if ((skip)); then skip=0; else said="\${said:+$said }\${words[at]}"; fi ;;
    esac
  done
  case \${words[CURRENT-1]} in
${values.join('\n')}
    ${takes.join('|')}) _files; return ;;
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case $said in
${options.join('\n')}
      *) compadd -- ${Object.keys(globals)
        .map((name) => `--${name}`)
        .join(' ')} ;;
    esac
    return
  fi
  case $said in
    '') _describe command all ;;
${after.join('\n')}
    *) _files ;;
  esac
}
# Found by its name it is called; read by "source" it is registered.
if [[ $funcstack[1] == _parley ]]; then _parley "$@"; else compdef _parley parley; fi
`;
}

function fish(): string {
  const plain = (text: string) => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  const where = (words: string) => ` -n "test (__parley_said) = '${words}'"`;
  const within = (words: string) => ` -n "string match -q -- '${words}*' (__parley_said)"`;
  const lines = firstWords().map((word) => {
    const own = commands.find(({ name }) => name === word);
    const about = own?.about ?? `${word} of the market`;
    return `complete -c parley${where('')} -f -a ${word} -d '${plain(about)}'`;
  });
  const after = [...followers()].map(
    ([key, words]) => `complete -c parley${where(key)} -f -a '${words.join(' ')}'`,
  );
  const optionLine = (
    [name, { value, choices, about }]: [string, Command['options'][string]],
    when: string,
  ) => {
    const takes = value === undefined ? '' : choices === undefined ? ' -r' : ' -x';
    const values = choices === undefined ? '' : ` -a '${choices.join(' ')}'`;
    return `complete -c parley${when} -l ${name}${takes}${values} -d '${plain(about)}'`;
  };
  const options = commands.flatMap((each) =>
    Object.entries(each.options).map((entry) => optionLine(entry, within(each.name))),
  );
  const all = Object.entries(globals).map((entry) => optionLine(entry, ''));
  const takes = valueOptions().map((name) => `--${name}`);
  const head = `# fish completion of parley: written by "parley completion fish".
# The words so far, without options and their values.
function __parley_said
  set -l said
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    switch $word
      case ${takes.join(' ')}
        set skip 1
      case '-*'
      case '*'
        test $skip = 0; and set -a said $word
        set skip 0
    end
  end
  echo "$said"
end`;
  return `${[head, ...lines, ...after, ...options, ...all].join('\n')}\n`;
}
