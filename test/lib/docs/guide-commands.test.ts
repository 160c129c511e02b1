import { globSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { program } from '../../../src/cli.ts'
import { wordsOf } from '../../../src/lib/kube/shell-line.ts'

const pages = ['README.md', ...globSync('docs/guide/*.md')]

/** The lines of kvup in the shell blocks of a page, without their comments; names in capitals are somebody's to fill in. */
function linesOf(page: string): readonly string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```(?:sh|bash|shell)\n(?<block>[\s\S]*?)^```$/gmu)
  return [...blocks]
    .flatMap(({ groups }) => (groups?.['block'] ?? '').replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/(?:^| +)#.*$/u, '').trim())
    .filter((line) => /^(?:kvup|kubectl kvup) /u.test(line))
}

function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
  command.commands.forEach(quiet)
}

/** Whether a command took the line, or it is one that shows help. */
async function isTaken(line: string): Promise<boolean> {
  let taken = false
  const root = await program('kvup', () => async () => void (taken = true), 'all')
  quiet(root)
  const [typed = ''] = line.split(/ (?:[|&]|2?>)/u)
  const words = wordsOf(typed.replace(/^kubectl /u, '')).slice(1)
  await root.parseAsync(
    words.map((word) => word.replaceAll("'", '')),
    { from: 'user' },
  )
  return taken
}

test('the guide has lines of kvup', () => {
  expect(pages.flatMap(linesOf).length).toBeGreaterThan(40)
})

test.each(pages.flatMap((page) => linesOf(page).map((line) => [page, line] as const)))(
  '%s: kvup takes %s',
  async (_, line) => {
    if (/ (?:--help|--version)$| help\b|^kvup "\$@"/u.test(line)) return
    expect(await isTaken(line)).toBe(true)
  },
)
