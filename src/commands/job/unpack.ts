import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context } from '../../context.ts'
import { parsePackedWord, unpackFile } from '../../lib/job/packed-files.ts'
import { fileTrouble, readBounded } from '../../lib/kube/bounded-file.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'

export interface UnpackOptions {
  from: string
  into: string
}

/** `kvup __unpack`: each file as it was when the Job was made, or nothing. All are verified before the first is written. */
export async function unpack(
  { world }: Context,
  { from, into }: UnpackOptions,
  words: string[],
): Promise<void> {
  const files = words.map((word): [path: string, text: string] => {
    const file = parsePackedWord(word)
    return [file.path, unpackFile(bytesOf(join(from, file.sha256)), file).toString('utf8')]
  })
  for (const [path, text] of files) {
    const file = join(into, path)
    try {
      mkdirSync(dirname(file), { recursive: true })
      await world.writeText(file, text)
    } catch (cause) {
      throw usageError(
        'file-not-written',
        `cannot write ${shellWord(file)}: ${fileTrouble(cause, 'write')}`,
        {
          cause,
        },
      )
    }
  }
}

function bytesOf(file: string): Buffer {
  try {
    return readBounded(file)
  } catch (cause) {
    throw usageError('file-missing', `cannot read ${shellWord(file)}: ${fileTrouble(cause, 'read')}`, {
      cause,
    })
  }
}
