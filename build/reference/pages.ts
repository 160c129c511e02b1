import { readFile } from 'node:fs/promises'
import { program } from '../../src/cli.ts'
import { describeTree } from './describe.ts'
import { manFile, manPage } from './man.ts'
import { markdownFile, markdownIndex, markdownPage } from './markdown.ts'
import { explanations } from './explanations.ts'
import { errorReasons } from './reasons.ts'
import { rbacPage } from './rbac.ts'

/** Folders that hold nothing but generated pages. */
export const generatedFolders = ['docs/commands', 'docs/man'] as const

/** Every generated page by its path in the project. Runs no command. */
export async function referencePages(): Promise<Map<string, string>> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  const root = await program('kvup', () => async () => undefined, 'all')
  const commands = describeTree(root)
  return new Map([
    ['docs/rbac.md', rbacPage()],
    ['src/lib/checks/explanations.json', explanations(await readFile('docs/checks.md', 'utf8'))],
    ['src/commands/explain/reasons.json', errorReasons()],
    ['docs/commands/README.md', markdownIndex(commands)],
    ...commands.map((one): [string, string] => [`docs/commands/${markdownFile(one)}`, markdownPage(one)]),
    ...commands.map((one): [string, string] => [`docs/man/${manFile(one)}`, manPage(one, commands, version)]),
  ])
}
