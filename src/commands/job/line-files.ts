import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { cleanPath, packFile, type PackedFile } from '../../lib/job/packed-files.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import type { World } from '../../lib/kube/world.ts'
import type { InnerLine } from './inner-line.ts'

/** Flags whose value is a file, by the names of their options. */
const fileFlags: ReadonlyMap<string, string> = new Map([
  ['--plan', 'plan'],
  ['--manifest', 'manifest'],
  ['--manifest-base', 'manifestBase'],
  ['--releases', 'releases'],
  ['--catalog-file', 'catalogFile'],
  ['--graph-file', 'graphFile'],
  ['--rehearsal', 'rehearsal'],
])

/** The line as the pod types it, and the files that it reads there. */
export interface PackedLine {
  words: readonly string[]
  files: readonly PackedFile[]
}

/** Reads what the line names. Throws `usage` for a file that is not there, is too large, or cannot be one of a pod. */
export async function packLine(
  world: Pick<World, 'readText'>,
  line: InnerLine,
  sealed: SealedPlan | undefined,
): Promise<PackedLine> {
  const files: PackedFile[] = []
  const add = async (flag: string, file: string): Promise<string> => {
    const path = freePath(file, files)
    files.push(packFile(file, path, await textOf(world, flag, file)))
    return path
  }
  const words = await replaced(line.words, add)
  const more = sealed === undefined ? [] : await filesOfPlan(sealed, line, add)
  return { words: [...words, ...more, '-o', 'ndjson'], files }
}

/** The words with each file as the pod finds it. */
async function replaced(
  words: readonly string[],
  add: (flag: string, file: string) => Promise<string>,
): Promise<string[]> {
  const result: string[] = []
  for (const [index, word] of words.entries()) {
    const [flag = '', ...value] = word.split('=')
    const before = words[index - 1] ?? ''
    if (fileFlags.has(flag) && value.length > 0)
      result.push(`${flag}=${await inPod(flag, value.join('='), add)}`)
    else if (fileFlags.has(before)) result.push(await inPod(before, word, add))
    else result.push(word)
  }
  return result
}

const isAddress = (value: string): boolean => /^https?:/iu.test(value)

async function inPod(
  flag: string,
  value: string,
  add: (flag: string, file: string) => Promise<string>,
): Promise<string> {
  if (isAddress(value)) return value
  if (value === '-')
    throw usageError('line-reads-stdin', `${flag} - reads standard input, which a Job does not have`, {
      remedy: `save it as a file, and name that with ${flag}`,
    })
  if (flag === '--manifest-base')
    throw usageError('line-names-folder', `${flag} names a folder, which a Job does not have`, {
      remedy: 'name an https address with --manifest-base, or one file with --manifest',
    })
  return add(flag, value)
}

/** What a sealed plan reads besides itself: where its own path cannot be one of the pod, the line names the file, whose checksum is sealed. */
async function filesOfPlan(
  { request, file }: SealedPlan,
  { options }: InnerLine,
  add: (flag: string, file: string) => Promise<string>,
): Promise<string[]> {
  const words: string[] = []
  for (const [flag, name] of fileFlags) {
    const value = request[name]
    if (name === 'plan' || typeof value !== 'string' || isAddress(value) || options[name] !== undefined)
      continue
    const path = await inPod(flag, value, add)
    if (path === value.replace(/^\.\//u, '')) continue
    if (name !== 'manifest' || request['manifestSha256'] === undefined)
      throw usageError(
        'plan-names-path',
        `${shellWord(file)} names ${shellWord(value)}, which a pod does not have: it finds files below its working directory alone`,
        { remedy: `make the plan with ${flag} and the name of a file in this folder` },
      )
    words.push(flag, path)
  }
  return words
}

/** Its own path where that is a plain relative one, else its name; another file of that name gets a number. */
function freePath(file: string, taken: readonly PackedFile[]): string {
  const wanted = cleanPath(file) ?? cleanPath(file.slice(file.lastIndexOf('/') + 1)) ?? 'file'
  let path = wanted
  for (let at = 2; taken.some((one) => one.path === path); at++) path = `${at}-${wanted.replaceAll('/', '-')}`
  return path
}

async function textOf(world: Pick<World, 'readText'>, flag: string, file: string): Promise<string> {
  try {
    return await world.readText(file)
  } catch (cause) {
    throw usageError(
      'file-missing',
      `cannot read ${shellWord(file)}, which ${flag} names: ${fileTrouble(cause, 'read')}`,
      {
        remedy: `name a file that exists with ${flag}`,
        cause,
      },
    )
  }
}
