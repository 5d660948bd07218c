print("fails once")
raise ValueError("own module")
