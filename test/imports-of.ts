/** An import as it stands in a file. */
export interface Arrow {
  from: string
  to: string
  typeOnly: boolean
}

const statement =
  /(?:^|[;\n])\s*(?:import|export)\s+(?<type>type\s)?(?<names>[^'"`;]*?)\bfrom\s*['"](?<what>[^'"]+)['"]|(?:^|[;\n])\s*import\s*['"](?<bare>[^'"]+)['"]|\bimport\(\s*['"](?<late>[^'"]+)['"]\s*\)/gu

/** Parses every import of a TypeScript text: over several lines, re-exports, bare and dynamic ones. Comments do not count. */
export function importsOf(file: string, text: string): Arrow[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/^\s*\/\/.*$/gmu, '')
  return [...code.matchAll(statement)].map(({ groups = {} }) => ({
    from: file,
    to: groups['what'] ?? groups['bare'] ?? groups['late'] ?? '',
    typeOnly: groups['type'] !== undefined || onlyTypes(groups['names'] ?? ''),
  }))
}

/** `{ type A, type B }`. */
function onlyTypes(names: string): boolean {
  const inside = /^\s*\{(?<list>[\s\S]*)\}\s*$/u.exec(names)?.groups?.['list']
  return (
    inside !== undefined &&
    inside.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type '))
  )
}
