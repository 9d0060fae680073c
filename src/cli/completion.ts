/** `baudway completion`: a script for the shell, which asks this same command what may come next. */
import { type Command, type CommandEntry, CommandFault, DONE, defineCommand, WRONG_USAGE } from './command.ts'
import { completionWords } from './completion-words.ts'
import { printable } from './printable.ts'

/** What the scripts ask with; the words of the command line follow behind a `--`. */
const ASKING = 'words'

const BASH = `# In ~/.bashrc: source <(baudway completion bash)
_baudway() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion ${ASKING} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _baudway baudway`

const ZSH = `# In ~/.zshrc, after compinit: source <(baudway completion zsh)
_baudway() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion ${ASKING} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -S ' ' -q -- \${found:#*=}; compadd -S '' -- \${(M)found:#*=}
  else _files; fi
}
compdef _baudway baudway`

const FISH = `# In ~/.config/fish/config.fish: baudway completion fish | source
function __baudway_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion ${ASKING} -- $words[2..-1] 2>/dev/null
end
complete -c baudway -a '(__baudway_words)'`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH }

/** `commands`: all there are, this one among them. */
export function completionCommand(commands: readonly CommandEntry[]): Command {
  return defineCommand({
    options: {},
    positionals: { min: 1, max: Number.POSITIVE_INFINITY, names: ['bash|zsh|fish'] },
    notes: [
      'Completes commands, options, and the tools and ports of the running gateway.',
      '  bash: source <(baudway completion bash)      in ~/.bashrc',
      '  zsh:  source <(baudway completion zsh)       in ~/.zshrc, after compinit',
      '  fish: baudway completion fish | source       in ~/.config/fish/config.fish',
    ],
    run: async (_values, [shell = '', ...words], terminal) => {
      if (shell === ASKING) {
        for (const word of await completionWords(words, commands, terminal)) terminal.print(printable(word))
        return DONE
      }
      const script = SCRIPTS[shell]
      if (script === undefined || words.length > 0) {
        throw new CommandFault(WRONG_USAGE, `"${[shell, ...words].join(' ')}" is none of bash, zsh and fish`)
      }
      for (const line of script.split('\n')) terminal.print(line)
      return DONE
    },
  })
}
