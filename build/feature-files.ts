// How many files of src a feature runs through: the real command from source, on the built-in simulated cluster, under V8's coverage.
//   node build/feature-files.ts [--list] [FEATURE…]
// A file counts where at least one of its functions ran. Left out: kube, the root of src, output but its views, and the simulator.
// Exit 0: every feature stays within its limit. Exit 1: one does not, or a command failed. Exit 2: there is no such feature.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Feature {
  name: string
  scenario: string
  /** How many times as fast as on the wall the cluster's time runs. */
  speed: number
  /** Behind `kvup`; the name of a file that the demo lays down stands for its path. */
  line: readonly string[]
  /** Its exit code; 0 where nothing is said. */
  ends?: number
  limit: number
}

const features: readonly Feature[] = [
  { name: 'status', scenario: 'image-tag', speed: 1, line: ['status'], limit: 14 },
  { name: 'check', scenario: 'image-tag', speed: 1, line: ['check', '--to', 'v1.8.4'], limit: 35 },
  { name: 'outdated', scenario: 'outdated-workloads', speed: 1, line: ['workloads', 'outdated'], limit: 15 },
  {
    name: 'upgrade',
    scenario: 'image-tag',
    speed: 30,
    line: ['upgrade', '--to', 'v1.8.4', '--method', 'image-tag', '--yes'],
    limit: 60,
  },
  {
    name: 'update',
    scenario: 'outdated-workloads',
    speed: 30,
    line: ['workloads', 'update', '--yes'],
    ends: 3,
    limit: 40,
  },
  {
    name: 'eus-run',
    scenario: 'ocp-eus',
    speed: 300,
    line: 'eus run --to 4.20 --approve --yes --graph-file graph.json --catalog-file catalog.yaml'.split(' '),
    limit: 90,
  },
]

const root = fileURLToPath(new URL('../', import.meta.url))
const inside = `import { main } from ${JSON.stringify(join(root, 'src/main.ts'))}
process.exitCode = await main(process.argv.slice(1), process)`

function kvup(words: readonly string[], env: Record<string, string>): ChildProcess {
  const argv = ['--input-type=module', '-e', inside, '--', ...words]
  return spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Kubeconfig and files of a served demo, by their names, once it has said where they lie. */
function served(demo: ChildProcess): Promise<Map<string, string>> {
  return new Promise((resolve, reject) => {
    let said = ''
    const take = (text: string) => {
      said += text
      if (!said.includes('Ctrl-C ends it') || !/KUBECONFIG=\S+\n/u.test(said)) return
      const files = [...said.matchAll(/^its (\S+): (.*)$/gmu)].map(
        ([, name = '', path = '']) => [name, path] as const,
      )
      const [, kubeconfig = ''] = /KUBECONFIG=(\S+)/u.exec(said) ?? []
      resolve(new Map([['KUBECONFIG', kubeconfig], ...files]))
    }
    demo.stdout?.setEncoding('utf8').on('data', take)
    demo.stderr?.setEncoding('utf8').on('data', take)
    demo.on('exit', (code) => reject(new Error(`kvup demo --serve ended with ${code}:\n${said}`)))
  })
}

async function ended(command: ChildProcess, as: number): Promise<void> {
  let said = ''
  for (const stream of [command.stdout, command.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(command, 'exit')) as [number | null]
  if (code !== as) throw new Error(`${command.spawnargs.slice(5).join(' ')} ended with ${code}:\n${said}`)
}

/** V8's coverage of a process: per script its functions, and of each how often it ran. */
interface Coverage {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[]
}

const isCounted = (file: string): boolean =>
  file.startsWith('src/') &&
  !/^src\/(?:[^/]+$|simulator\/|lib\/kube\/)/u.test(file) &&
  (!file.startsWith('src/lib/output/') || file.startsWith('src/lib/output/views/'))

/** Files of which a function ran. The first of a script is the module itself, and a static block is no function. */
function filesIn(dir: string): string[] {
  const files = readdirSync(dir).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as Coverage
    return result.flatMap(({ url, functions }) => {
      const ran = functions.slice(1).some(({ functionName, ranges }) => {
        const isStatic = functionName === '<static_initializer>'
        return !isStatic && (ranges[0]?.count ?? 0) > 0
      })
      return ran && url.startsWith('file:') ? [relative(root, fileURLToPath(url))] : []
    })
  })
  return [...new Set(files)].filter(isCounted).toSorted()
}

async function filesOf({ scenario, speed, line, ends = 0 }: Feature): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'kvup-feature-'))
  const demo = kvup(['demo', '--serve', '--scenario', scenario, '--speed', String(speed)], {})
  try {
    const laid = await served(demo)
    const words = line.map((word) => laid.get(word) ?? word)
    await ended(kvup(words, { NODE_V8_COVERAGE: dir, KUBECONFIG: laid.get('KUBECONFIG') ?? '' }), ends)
    return filesIn(dir)
  } finally {
    demo.removeAllListeners('exit').kill()
    rmSync(dir, { recursive: true, force: true })
  }
}

const asked = process.argv.slice(2)
const names = asked.filter((word) => word !== '--list')
const unknown = names.filter((name) => !features.some((feature) => feature.name === name))
if (unknown.length > 0) {
  console.error(`there is no feature ${unknown.join(', ')}: ${features.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
for (const feature of features.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const files = await filesOf(feature)
  const { name, line, limit } = feature
  console.log(
    `${name.padEnd(9)} ${String(files.length).padStart(4)} of at most ${String(limit).padStart(2)}   kvup ${line.join(' ')}`,
  )
  if (asked.includes('--list')) for (const file of files) console.log(`  ${file}`)
  if (files.length > limit) process.exitCode = 1
}
