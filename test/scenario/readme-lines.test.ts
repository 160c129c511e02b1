// Whole runs on the cluster of the demo: more than 3 s of processor time.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { runText } from '../lib/run-text.ts'
import { serveFiles, small418 } from './eus/window-stage.ts'
import { play, type Stage } from './stage.ts'

const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gmu)].join('\n')
const lines = [...new Set([...blocks.matchAll(/^kvup (.+?)(?: > .+)?$/gmu)].map(([, line = '']) => line))]
const eus = lines.filter((line) => line.startsWith('eus '))

async function endsWell(stage: Stage, typed: readonly string[]): Promise<void> {
  serveFiles(stage)
  const files = Object.fromEntries(stage.files)
  for (const line of typed) {
    const { code, err } = await runText(line.split(' '), {
      cluster: stage.cluster,
      clock: stage.clock,
      files,
    })
    expect([line, code, code === 0 ? '' : err]).toEqual([line, 0, ''])
  }
}

test('the lines of the README end well in their order: on the cluster of the demo, and on OpenShift', async () => {
  expect([lines.length, eus.length]).toEqual([9, 1])
  await play(scenarioNamed('image-tag')?.cluster ?? {}, (stage) =>
    endsWell(
      stage,
      lines.filter((line) => !eus.includes(line)),
    ),
  )
  await play(small418, (stage) => endsWell(stage, eus))
})
