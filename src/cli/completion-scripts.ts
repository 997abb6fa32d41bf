import type { CommandWords, Values } from './completion-tree.js';

/** The shells that a script can be made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that completes the commands of `tollgate` in a shell. */
export function completionScript(shell: Shell, commands: readonly CommandWords[]): string {
  const places = commands.flatMap(placesOf);
  if (shell === 'fish') return fishScript(commands, places);
  return `${HEADS[shell]}${reader(commands, places)}${shell === 'bash' ? BASH : ZSH}`;
}

/**
 * A place of the command line, and its possible words. Its name is the path of a command and one
 * of: the number of an argument, an option that takes a value, or `-` for the options themselves.
 */
interface Place {
  name: string;
  values: Values;
}

function placesOf({ path, commands, options, arguments: args }: CommandWords): Place[] {
  const words = (names: string[]): Values => ({ kind: 'words', words: names });
  return [
    ...(commands.length > 0
      ? [{ name: `${path} 0`, values: words(commands.map(({ name }) => name)) }]
      : []),
    ...args.map((values, at) => ({ name: `${path} ${at}`, values })),
    ...options.map(({ name, values }) => ({ name: `${path} ${name}`, values })),
    { name: `${path} -`, values: words(options.map(({ name }) => name)) },
  ];
}

/** Groups the names of places that have the same words. */
function grouped(places: readonly Place[], line: (values: NonNullable<Values>) => string) {
  const groups = new Map<string, string[]>();
  for (const { name, values } of places) {
    if (!values) continue;
    const known = groups.get(line(values));
    if (known) known.push(name);
    else groups.set(line(values), [name]);
  }
  return [...groups];
}

/** The options that take a value, each after the path of its command. */
function valued(commands: readonly CommandWords[]): string[] {
  return commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, short, takes }) =>
      takes ? [name, ...(short ? [short] : [])].map((flag) => `${path} ${flag}`) : [],
    ),
  );
}

/** The steps from the path of a command to one within it. */
function steps(commands: readonly CommandWords[]): string[] {
  return commands.flatMap(({ path, commands: within }) =>
    within.map(({ name }) => `${path} ${name}`),
  );
}

const HEADS = {
  bash: '# Completes tollgate in bash: eval "$(tollgate completion bash)"\n',
  zsh: '#compdef tollgate\n# Completes tollgate in zsh: eval "$(tollgate completion zsh)"\n',
};

/** A shell function for bash and zsh. It finds the place of the cursor and its possible words. */
function reader(commands: readonly CommandWords[], places: readonly Place[]): string {
  const either = (names: readonly string[]): string => names.map(quoted).join('|');
  const cases = grouped(places, shellLine).map(
    ([line, names]) => `    ${either(names)})\n      ${line} ;;`,
  );
  return `
# Reads the words up to the one that is completed. Sets: place, current, prefix, config, and what
# may stand there: candidates (one a line), list (asked of tollgate), files.
_tollgate_read() {
  local word option= command_path= position=0
  config=gateway.yaml prefix= candidates= list= files=
  shift
  while [ $# -gt 1 ]; do
    word=$1
    shift
    if [ -n "$option" ]; then
      if [ "$option" = --config ]; then config=$word; fi
      option=
      continue
    fi
    case "$word" in
      --config=*) config=\${word#*=} ;;
      -*)
        case "$command_path $word" in
          ${either(valued(commands))}) option=$word ;;
        esac ;;
      *)
        case "$command_path $word" in
          ${either(steps(commands))}) command_path="\${command_path:+$command_path }$word" ;;
          *) position=$((position + 1)) ;;
        esac ;;
    esac
  done
  current=$1
  if [ -n "$option" ]; then
    place="$command_path $option"
  else
    case "$current" in
      --*=*)
        place="$command_path \${current%%=*}"
        prefix="\${current%%=*}="
        current=\${current#*=} ;;
      -*) place="$command_path -" ;;
      *) place="$command_path $position" ;;
    esac
  fi
  case "$place" in
${cases.join('\n')}
  esac
}
`;
}

function shellLine(values: NonNullable<Values>): string {
  if (values.kind === 'files') return 'files=1';
  if (values.kind === 'list') return `list=${values.list}`;
  return `candidates=${quoted(values.words.join('\n'))}`;
}

/** Text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const BASH = `
_tollgate() {
  local -a typed=()
  local word glue= place current prefix config candidates list files drop
  # Bash takes ":" and "=" for words of their own: the pieces are joined again.
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ \${#typed[@]} -gt 0 && ( -n $glue || $word == : || $word == = ) ]]; then
      typed[\${#typed[@]}-1]+=$word
    else
      typed+=("$word")
    fi
    glue=
    if [[ $word == : || $word == = ]]; then glue=1; fi
  done
  _tollgate_read "\${typed[@]}"
  COMPREPLY=()
  if [[ -n $list ]]; then
    candidates=$("\${typed[0]}" completion --list "$list" --config "$config" 2>/dev/null)
  elif [[ -n $files ]]; then
    candidates=$(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
  # What stands before the last ":" stays on the line, and so does what stands before "=".
  drop=
  if [[ $COMP_WORDBREAKS == *:* && $current == *:* ]]; then drop=\${current%"\${current##*:}"}; fi
  if [[ -n $drop || $COMP_WORDBREAKS == *=* ]]; then prefix=; fi
  while IFS= read -r word; do
    if [[ -z $word || $word != "$current"* ]]; then continue; fi
    word=\${word#"$drop"}
    if [[ -z $files ]]; then printf -v word %q "$word"; fi
    COMPREPLY+=("$prefix$word")
  done <<<"$candidates"
}
complete -F _tollgate tollgate
`;

const ZSH = `
_tollgate() {
  emulate -L zsh
  local place current prefix config candidates list files
  _tollgate_read "\${(@Q)words[1,CURRENT]}"
  if [[ -n $prefix ]]; then compset -P '*='; fi
  if [[ -n $files ]]; then
    _files
    return
  fi
  if [[ -n $list ]]; then
    candidates=$("\${(Q)words[1]}" completion --list $list --config "$config" 2>/dev/null)
  fi
  compadd -- \${(f)candidates}
}
if [[ $funcstack[1] == _tollgate ]]; then _tollgate "$@"; else compdef _tollgate tollgate; fi
`;

const FISH_PLACE = `  set -l place "$command_path $position"
  if test -n "$option"
    set place "$command_path $option"
  else if string match -q -- '--*=*' "$current"
    set -l parts (string split -m 1 -- = $current)
    set place "$command_path $parts[1]"
    set prefix "$parts[1]="
    set current $parts[2]
  else if string match -q -- '-*' "$current"
    set place "$command_path -"
  end
`;

function fishScript(commands: readonly CommandWords[], places: readonly Place[]): string {
  const either = (names: readonly string[]): string => names.map(fishWord).join(' ');
  const cases = grouped(places, (values) => fishLine(values, commands)).map(
    ([line, names]) => `    case ${either(names)}\n      ${line}`,
  );
  return `# Completes tollgate in fish: tollgate completion fish | source
function __tollgate_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l command_path ''
  set -l option ''
  set -l prefix ''
  set -l position 0
  set -l config gateway.yaml
  for word in $typed[2..-1]
    if test -n "$option"
      if test "$option" = --config
        set config $word
      end
      set option ''
      continue
    end
    switch "$word"
      case '--config=*'
        set config (string replace -- '--config=' '' $word)
      case '-*'
        switch "$command_path $word"
          case ${either(valued(commands))}
            set option $word
        end
      case '*'
        switch "$command_path $word"
          case ${either(steps(commands))}
            set command_path (string trim -- "$command_path $word")
          case '*'
            set position (math $position + 1)
        end
    end
  end
${FISH_PLACE}  switch "$place"
${cases.join('\n')}
  end
end
complete -c tollgate -f -a '(__tollgate_complete)'
`;
}

function fishLine(values: NonNullable<Values>, commands: readonly CommandWords[]): string {
  if (values.kind === 'files')
    return '__fish_complete_path $current | string replace -r \'^\' "$prefix"';
  if (values.kind === 'list') {
    const ask = `$typed[1] completion --list ${values.list} --config $config 2>/dev/null`;
    return `${ask} | string replace -r '^' "$prefix"`;
  }
  const lines = values.words.map((name) => fishWord(described(name, commands)));
  return `string join \\n -- "$prefix"${lines.join(' "$prefix"')}`;
}

/** A word with the description of its command or option, which fish shows beside it. */
function described(word: string, commands: readonly CommandWords[]): string {
  const all = commands.flatMap((one) => [...one.commands, ...one.options]);
  const found = all.filter(({ name }) => name === word).map(({ description }) => description);
  return new Set(found).size === 1 ? `${word}\t${found[0]}` : word;
}

function fishWord(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
