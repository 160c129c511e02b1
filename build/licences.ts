import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Package {
  name: string
  version: string
  license?: string
}

/** What the licences of the packages in these modules (by their paths) ask to go with them, one package after the other. */
export function licencesOf(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((module) => folderOf(module) ?? []))
  return [...folders].toSorted().map(noticeOf).join('\n\n')
}

/** The folder of the package that a module lies in; a module that the bundler made lies in none. */
function folderOf(module: string): string | undefined {
  return /^(?<folder>[^\0]*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(module)?.groups?.[
    'folder'
  ]
}

/** Throws where it says of itself neither by a text nor by a name what its licence is. */
function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  ) as Package
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim())
  if (texts.length === 0 && license === undefined) throw new Error(`${folder} says nothing of its licence`)
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n')
}
