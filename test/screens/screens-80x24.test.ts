import { goldenScreens } from './golden.ts'

goldenScreens({ columns: 80, rows: 24 })
