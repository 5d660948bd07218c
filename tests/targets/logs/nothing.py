import sys

print(sorted(sys.modules), len(sys.meta_path))
print("logging" in sys.modules)
