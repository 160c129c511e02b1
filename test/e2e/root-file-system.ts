import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** What the last stage of a Containerfile makes: files, and how its program is started. */
export interface Image {
  copied: readonly { from: string; isOfSystem: boolean; to: string }[]
  env: Readonly<Record<string, string>>
  user: string
  entrypoint: readonly string[]
}

/** Reads the last stage. Throws where it has a line that is not known here, for an image that was half understood proves nothing. */
export function readContainerfile(file: string): Image {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const last = lines.findLastIndex((line) => line.startsWith('FROM '))
  if (lines[last] !== 'FROM scratch') throw new Error(`the last stage is ${lines[last]}, not FROM scratch`)
  const copied: { from: string; isOfSystem: boolean; to: string }[] = []
  const env: Record<string, string> = {}
  let user = ''
  let entrypoint: readonly string[] = []
  for (const line of lines.slice(last + 1)) {
    const { word, rest = '' } = /^(?<word>\S+) (?<rest>.+)$/.exec(line)?.groups ?? {}
    if (word === 'COPY') copied.push(copyOf(rest))
    else if (word === 'ENV') Object.assign(env, Object.fromEntries([rest.split('=', 2)]))
    else if (word === 'USER') user = rest
    else if (word === 'ENTRYPOINT') entrypoint = JSON.parse(rest) as string[]
    else throw new Error(`a line that is not known: ${line}`)
  }
  return { copied, env, user, entrypoint }
}

function copyOf(words: string): { from: string; isOfSystem: boolean; to: string } {
  const {
    stage,
    from = '',
    to = '',
  } = /^(?:--from=(?<stage>\S+) )?(?<from>\S+) (?<to>\/\S*\/)$/.exec(words)?.groups ?? {}
  if (from === '' || (stage !== undefined && stage !== 'system'))
    throw new Error(`a COPY that is not known: ${words}`)
  return { from, isOfSystem: stage === 'system', to: `${to}${path.basename(from)}` }
}

/** Lays the files of an image under `root`: those of its first stage come from this machine, the others from where `project` says. */
export function layOut({ copied }: Image, root: string, project: (name: string) => string): void {
  for (const { from, isOfSystem, to } of copied) {
    const target = path.join(root, to)
    mkdirSync(path.dirname(target), { recursive: true })
    // As COPY does with one name: what a link leads to.
    copyFileSync(isOfSystem ? from : project(from), target)
    chmodSync(target, /\.so|\/bin\//.test(to) ? 0o755 : 0o644)
  }
}
