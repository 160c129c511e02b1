import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { rolldown } from 'rolldown'

const folder = path.join(path.dirname(import.meta.dirname), 'src/lib/output/report/browser')
const name = 'virtual:report-page'

/** Modules that are in the script of the page, by their paths: their licences go with it. */
export const pageModules = new Set<string>()

/**
 * `virtual:report-page`: what runs in the browser, bundled with its libraries into one text, and its style. For the bundle of the program and for
 * tests, which run the sources.
 */
export const reportPage = {
  name: 'report-page',
  resolveId: { filter: { id: /^virtual:report-page$/ }, handler: () => `\0${name}` },
  load: {
    // oxlint-disable-next-line no-control-regex -- so ids of modules begin that are no files
    filter: { id: /^\0virtual:report-page$/ },
    handler: loaded,
  },
}

async function loaded() {
  const [script, style] = [await scriptText(), await styleText()]
  const code = `export const script = ${JSON.stringify(script)}\nexport const style = ${JSON.stringify(style)}\n`
  return { code, moduleType: 'js' as const }
}

async function scriptText(): Promise<string> {
  const bundle = await rolldown({
    input: path.join(folder, 'main.ts'),
    platform: 'browser',
    transform: { target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
    tsconfig: path.join(folder, 'tsconfig.json'),
  })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  await bundle.close()
  const [{ code, moduleIds }] = output
  for (const id of moduleIds) pageModules.add(id)
  return ofElement(code.trim(), 'script')
}

const styleText = async (): Promise<string> =>
  ofElement((await readFile(path.join(folder, 'page.css'), 'utf8')).trim(), 'style')

/** Within its element nothing may read as its end, or as a comment of HTML. */
function ofElement(text: string, element: 'script' | 'style'): string {
  const safe =
    element === 'script'
      ? text.replaceAll('</script', String.raw`<\/script`).replaceAll('<!--', String.raw`<\!--`)
      : text
  if (new RegExp(`</${element}|<!--`, 'i').test(safe))
    throw new Error(`the ${element} of the report's page would end early`)
  return safe
}
