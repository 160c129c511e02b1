import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A package whose code is in the bundle. */
export interface BundledPackage {
  name: string
  version: string
  /** As its package.json names it, which need not do so where a text lies beside it. */
  license?: string
}

/** What the licences of the packages in these modules (by their paths) ask to go with them, one package after the other. */
export const licencesOf = (modules: readonly string[]): string =>
  foldersOf(modules).map(noticeOf).join('\n\n')

/** The packages that these modules (by their paths) come from, in the order of their licences. */
export const packagesOf = (modules: readonly string[]): BundledPackage[] =>
  foldersOf(modules).map((folder) => {
    const { name, version, license } = packageIn(folder)
    return license === undefined ? { name, version } : { name, version, license }
  })

function foldersOf(modules: readonly string[]): string[] {
  return [...new Set(modules.flatMap((module) => folderOf(module) ?? []))].toSorted()
}

/** The folder of the package that a module lies in; a module that the bundler made lies in none. */
function folderOf(module: string): string | undefined {
  return /^(?<folder>[^\0]*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(module)?.groups?.[
    'folder'
  ]
}

/** Throws where it says of itself neither by a text nor by a name what its licence is. */
function noticeOf(folder: string): string {
  const { name, version, license } = packageIn(folder)
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim())
  if (texts.length === 0 && license === undefined) throw new Error(`${folder} says nothing of its licence`)
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n')
}

const packageIn = (folder: string): BundledPackage =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as BundledPackage
